# A table to begin with: points of a rolled-up sheet, and where on the sheet they lie.
unbend surface swiss_roll -n 1000 --seed 0 -o roll.csv

# A table in; coordinates, a picture and a model out.
unbend embed roll.csv --method isomap --n-neighbors 8 --label chart_1 --ignore chart_2 \
    -o flat.csv --plot flat.png --model roll.unbend

# How good it is: neighbours kept, and, as this sheet is known, how much of the truth is missed.
unbend quality roll.csv flat.csv --label chart_1 --truth chart_1,chart_2

# New rows, placed among the fitted ones; the label may be there or not.
unbend surface swiss_roll -n 200 --seed 1 -o new.csv
unbend transform roll.unbend new.csv -o new-flat.csv

# A page to turn and zoom, what the model is, and what else there is to try.
unbend plot flat.csv --label chart_1 -o flat.html
unbend info roll.unbend
unbend methods
