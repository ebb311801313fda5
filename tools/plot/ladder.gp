# One bar per stage and peer, at one cell. From zero, so that lengths compare: the steps at the top
# and the lead over peers are what one looks for.
set terminal svg size 1100,600 noenhanced
set title sprintf("%s, %s, %s", device, dtype, ladder_cell) font "Helvetica,16"
stats $ladder using 2 nooutput
set xrange [0:1.08 * STATS_max] # room for the number
set xlabel "TFLOP/s"
set yrange [names + 0.6:0.4]
set ytics scale 0
set grid noytics xtics
set style fill solid
unset key
set lmargin 22
set palette defined (0 "#9ecae1", 0.4 "#2171b5", 0.7 "#238b45", 0.99 "#d94801", 0.991 "#888888", \
                     1 "#888888") # the last shade: peers
colour(i) = i <= stages ? 0.99 * shade(i) : 1
plot $ladder using 2:($0 + 1):(0):2:($0 + 0.6):($0 + 1.4):(colour($0 + 1)):yticlabel(1) \
         with boxxyerror linecolor palette, \
     $ladder using 2:($0 + 1):(sprintf("%.3g", $2)) with labels left offset 0.5,0
