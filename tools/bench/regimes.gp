# The speed in each cell, one panel per regime, the names at the right. Points, because neighbours
# on the axis are problems of their own.
columns = sections > 1 ? 2 : 1
rows = int((sections + columns - 1) / columns)
height = 60 + 420 * rows # pixels, of which 190 per panel are for the names of the cells
set terminal svg size 1200,height font "Helvetica,13" background rgb "white" noenhanced
set yrange [0:*]
set grid xtics ytics linecolor rgb "#dddddd" linetype 1
set offsets 0.3, 0.3, 0, 0
unset key
set multiplot layout rows, columns margins 0.06, 0.8, 170.0 / height, 1 - 60.0 / height \
    spacing 0.06, 210.0 / height \
    title sprintf("%s, %s (batch x heads/KV heads, queries x keys)", device, dtype) \
    font "Helvetica,16"
do for [s = 1:sections] {
    set title section[s] offset 0,-0.5
    set ylabel unit[s] offset 1,0
    # Many names stand upright: slanted, they would cover each other.
    stats $cells index s - 1 using 0 name "cell" nooutput
    small = cell_records > 14 ? "Helvetica,9" : "Helvetica,10"
    slant = cell_records > 14 ? -90 : -35
    set xtics rotate by slant font small
    plot for [i = stages + 1:names] $cells index s - 1 using 0:(column(i + 1)):xtic(1) \
             with points linestyle 2 pointsize 1 pointtype 4 + 2 * (i - stages - 1), \
         for [i = 1:stages] $cells index s - 1 using 0:(column(i + 1)):xtic(1) \
             with points linestyle 1 pointsize 0.8 linecolor palette frac shade(i)
}
if (sections < rows * columns) { set multiplot next }
set margins at screen 0.82, screen 1, screen 0.05, screen 0.95
set key left top Left reverse samplen 1
unset border
unset tics
unset title
unset xlabel
unset ylabel
unset offsets
plot [0:1] [0:1] NaN notitle, \
     for [i = 1:stages] keyentry \
         with points linestyle 1 pointsize 0.8 linecolor palette frac shade(i) title name[i], \
     for [i = stages + 1:names] keyentry \
         with points linestyle 2 pointsize 1 pointtype 4 + 2 * (i - stages - 1) title name[i]
unset multiplot
