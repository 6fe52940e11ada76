# A table to begin with: points of a rolled-up sheet, and where on the sheet they lie.
unbend surface swiss_roll -n 1000 --seed 0 -o roll.csv

# A table in; coordinates, a picture and a model out.
unbend embed roll.csv --method isomap --n-neighbors 8 --label chart_1 --ignore chart_2 \
    -o flat.csv --plot flat.png --model roll.unbend

# Quality: trustworthiness and continuity, and, as the true chart is known, the Procrustes error.
unbend quality roll.csv flat.csv --label chart_1 --truth chart_1,chart_2

# New samples: out-of-sample extension of the saved model. The label column is optional.
unbend surface swiss_roll -n 200 --seed 1 -o new.csv
unbend transform roll.unbend new.csv -o new-flat.csv

# An interactive page, a summary of the model, and the other methods.
unbend plot flat.csv --label chart_1 -o flat.html
unbend info roll.unbend
unbend methods
