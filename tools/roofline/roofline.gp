# Speed over arithmetic intensity under the roofs; the names at the right, because from stage 04 on
# all stages have nearly the same intensity.
set terminal svg size 1000,640 noenhanced
set title sprintf("%s, %s", device, shape) font "Helvetica,16"
set logscale xy
set xrange [left:right]
set yrange [low:high]
set xlabel "FLOP per byte of HBM traffic"
set ylabel "TFLOP/s"
set grid xtics ytics
set rmargin 22
unset key
ridge(peak) = 1000 * peak / hbm # where a roof meets that of the HBM
slope(x) = x * hbm / 1000
set label 1 sprintf("HBM %.4g GB/s", hbm) at 1.1 * left, slope(1.1 * left) offset 1,-0.5
set arrow 1 from left, slope(left) to ridge(top_roof), top_roof nohead linewidth 2 \
    linecolor rgb "#444444"
plot $roofs using (ridge($1)):1:(right - ridge($1)):(0) \
         with vectors nohead linewidth 2 linecolor rgb "#444444", \
     $roofs using (1.3 * ridge($1)):($1 * 1.14 ** $2):(sprintf("%s %.4g TFLOP/s", strcol(3), $1)) \
         with labels left, \
     $points using 2:3:(right - $2):($4 - $3):(shade($1)) \
         with vectors nohead linewidth 0.7 linecolor palette, \
     $points using 2:3:(shade($1)) with points pointtype 7 pointsize 0.8 linecolor palette, \
     $points using (right):4:5 with labels left offset 0.5,0
