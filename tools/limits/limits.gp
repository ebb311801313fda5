# The bound over what was recorded: every point is a cell, and none may be below the line on which
# they are equal.
set terminal svg size 1000,700 noenhanced
set title sprintf("%s: what the bound allows, over what was recorded", device) font "Helvetica,16"
set logscale xy
set xrange [0.7:1000]
set yrange [0.7:1000]
set xlabel "recorded TFLOP/s"
set ylabel "TFLOP/s of the bound"
set grid xtics ytics
set key outside right top
plot x with lines linewidth 2 linecolor rgb "#444444" title "equal", \
     x / 0.8 with lines dashtype 2 linecolor rgb "#444444" title "the bound explains 80 %", \
     for [i = 1:stages] $cells index i - 1 using 1:2:(shade(i)) with points pointtype 7 \
         pointsize 0.6 linecolor palette title name[i]
