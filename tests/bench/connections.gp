# SPDX-License-Identifier: MIT
# gnuplot: connections.svg from connections.dat, whose columns are those of enum what (connections.c).
set terminal svg size 900,640 dynamic font "sans-serif,13" background "#ffffff"
set output "connections.svg"
set multiplot layout 2,2
set logscale x
set xrange [0.8:12500]
set xlabel "connections"
set format x "%.0f"
set grid
set style data linespoints
set key below
set yrange [0:*]
set title "memory of an idle connection (KiB)"
plot "connections.dat" using 1:2 title "active end" pt 7, "" using 1:3 title "passive end" pt 5
set title "connections made and ended (thousand/s)"
plot "connections.dat" using 1:($4/1000) title "made" pt 7, "" using 1:($5/1000) title "ended" pt 5
set title "8 octets one way beside the others (us)"
plot "connections.dat" using 1:6 title "polling" pt 7, "" using 1:7 title "asleep" pt 5
set title "messages with all busy (thousand/s)"
plot "connections.dat" using 1:($8/1000) notitle pt 7
unset multiplot
