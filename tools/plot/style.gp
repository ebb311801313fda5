# What the plots share: a white ground, so that they read on dark pages too; the stages in one range
# of colours from first to last.
set terminal svg size 1100,760 font "Helvetica,13" background rgb "white" noenhanced
set border 3
set tics nomirror
set grid ytics linecolor rgb "#cccccc" linetype 1
set palette defined (0 "#9ecae1", 0.4 "#2171b5", 0.7 "#238b45", 1 "#d94801")
unset colorbox
set style line 1 pointtype 7 pointsize 0.5 linewidth 2
set style line 2 pointsize 0.7 linewidth 1.5 dashtype 2 linecolor rgb "#444444"
shade(i) = stages > 1 ? (i - 1.0) / (stages - 1) : 1 # of stage i
