# TFLOP/s over the sequence length, one panel per head size and mask, the names at the right.
set logscale x 2
set xtics (512, "1k" 1024, "2k" 2048, "4k" 4096, "8k" 8192, "16k" 16384)
set xrange [0.95 * shortest:1.05 * longest]
set yrange [0:*]
unset key
set multiplot layout (groups > 2 ? 2 : 1), (groups > 1 ? 2 : 1) \
    margins 0.06, 0.82, 0.08, 0.91 spacing 0.07, 0.13 \
    title sprintf("%s, %s, 16,384 tokens in all", device, dtype) font "Helvetica,16"
do for [g = 1:groups] {
    set title group[g] offset 0,-0.5
    set ylabel (g % 2 ? "TFLOP/s" : "") offset 1,0
    set xlabel (g > groups - 2 ? "sequence length" : "") offset 0,0.5
    plot for [i = 1:stages] $cells index g - 1 using 1:(column(i + 1)) \
             with linespoints linestyle 1 linecolor palette frac shade(i), \
         for [i = stages + 1:names] $cells index g - 1 using 1:(column(i + 1)) \
             with linespoints linestyle 2 pointtype 4 + 2 * (i - stages - 1)
}
set margins at screen 0.82, screen 1, screen 0.05, screen 0.93
set key left top Left reverse samplen 2
unset border
unset tics
unset title
unset xlabel
unset ylabel
unset logscale
plot [0:1] [0:1] NaN notitle, \
     for [i = 1:stages] keyentry \
         with linespoints linestyle 1 linecolor palette frac shade(i) title name[i], \
     for [i = stages + 1:names] keyentry \
         with linespoints linestyle 2 pointtype 4 + 2 * (i - stages - 1) title name[i]
unset multiplot
