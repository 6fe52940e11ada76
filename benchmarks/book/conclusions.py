"""The conclusions of chapters 5–14, each in a sentence of our own."""

from collections.abc import Iterator

from benchmarks.book.claims import (
    CLUSTER,
    CURVE,
    DMAPS,
    ROLL,
    SPHERE,
    Check,
    Claim,
    along,
    higher,
    last,
    longer,
    noisy,
    on,
    rivals,
    sizes,
    widths,
)

ALL = (SPHERE, ROLL, CURVE)
STRIP = (
    "The roll of length 21 is a strip, four times as long as wide: the second eigenfunction along "
    "it comes before the first one across, so the second coordinate is a function of the first "
    "(`redundancy` 0.999). Longer rolls are closer to a square, and both coordinates are recovered."
)
THIN = (
    "On the roll, noise of 0.2 is a ninth of the distance between neighbours and a thirtieth of "
    "that between turns, so it hardly tilts the tangent planes."
)
APART = (
    "In samples that are uniform by area, the graphs of sphere, roll and S-curve are disconnected "
    "at k = 3, and so are four of five graphs of the cluster. With bridges all have a result."
)
CHAIN = "Like Leigs, they put the chain on a curve: eigenfunctions along the chain come first."

PARTLY = (
    "HLLE mixes colours as the others do, but its second coordinate depends less on the first than "
    "those of LLE and LTSA: it does not put the chain on a curve."
)


def claims() -> Iterator[Claim]:
    """All conclusions, in the order of the chapters."""
    yield from _global()
    yield from _unfolding()
    yield from _local()
    yield from _waves()
    yield from _diffusion()


def _global() -> Iterator[Claim]:
    flat = Check("works", on("PCA", "square"))
    yield Claim("5.1", "PCA shows the square", (flat,))
    yield Claim(
        "5.1",
        "PCA shows neither 3-D cluster nor punched sphere",
        (Check("does not", on("PCA", CLUSTER, SPHERE)),),
    )
    yield Claim("5.3", "PCA mixes more on longer Swiss rolls", (longer("PCA", ROLL),))
    yield Claim("5.3", "PCA mixes more on longer S-curves", (longer("PCA", CURVE),))
    yield Claim(
        "8.2–8.3", "Isomap recovers roll and S-curve", (Check("works", on("Isomap", ROLL, CURVE)),)
    )
    yield Claim(
        "8.2", "Isomap recovers the punched sphere", (Check("works", on("Isomap", SPHERE)),)
    )
    yield Claim("8.2", "Isomap shows the cluster", (Check("shown", on("Isomap", CLUSTER)),))
    yield Claim("8.4", "Isomap mixes more on higher spheres", (higher("Isomap"),))
    yield Claim(
        "8.5",
        "Isomap recovers the roll with k = 5, 10, 15 alike",
        (Check("works", sizes("Isomap", ROLL, 5, 10, 15)),),
    )


def _unfolding() -> Iterator[Claim]:
    bare = "MVU without bridges"
    yield Claim(
        "9.4",
        "MVU recovers punched sphere and S-curve",
        (Check("works", [*sizes("MVU", SPHERE, 5), *sizes("MVU", CURVE, 5)]),),
    )
    yield Claim(
        "9.4", "MVU shows the 3-D cluster", (Check("shown", sizes("MVU", CLUSTER, 5)),), CHAIN
    )
    yield Claim(
        "9.4", "MVU does not truly unroll the roll", (Check("no chart", sizes("MVU", ROLL, 5)),)
    )
    yield Claim(
        "9.5",
        "With three neighbours the graph of the 3-D cluster is disconnected",
        (Check("no result", sizes(bare, CLUSTER, 3)),),
    )
    yield Claim(
        "9.5",
        "With three neighbours MVU still recovers punched sphere and S-curve",
        (Check("works", [*sizes(bare, SPHERE, 3), *sizes(bare, CURVE, 3)]),),
        APART,
    )
    yield Claim(
        "9.5",
        "With three neighbours MVU mixes the colours of the roll",
        (Check("does not", sizes("MVU", ROLL, 3)),),
    )
    yield Claim(
        "9.9",
        "Landmark MVU with 61 landmarks recovers the roll",
        (Check("works", sizes("LMVU", ROLL, 3)),),
    )


def _local() -> Iterator[Claim]:
    for figure, method in (("10.1", "LLE"), ("11.2", "LTSA"), ("13.1", "HLLE")):
        yield Claim(
            figure,
            f"{method} recovers sphere, roll and S-curve",
            (Check("works", on(method, *ALL)),),
        )
        yield Claim(
            figure,
            f"{method} fails on the 3-D cluster",
            (Check("a curve", on(method, CLUSTER)),),
            PARTLY if method == "HLLE" else "",
        )
    yield Claim("11.2", "LTSA is better than LLE on the roll", (*rivals(on("LTSA", ROLL), "LLE"),))
    yield Claim("10.3", "LLE fails with noise 0.4", (Check("does not", noisy("LLE", 0.4, *ALL)),))
    yield from _noise_of_tangents()
    yield Claim(
        "10.4",
        "LLE recovers the S-curve with k from 8 to 30, and not with 4 or 60",
        (
            Check("works", sizes("LLE", CURVE, 8, 12, 15, 30)),
            Check("does not", sizes("LLE", CURVE, 4, 60)),
        ),
    )
    yield Claim(
        "11.4",
        "LTSA recovers the roll only with k from 7 to 14",
        (
            Check("works", sizes("LTSA", ROLL, 8, 10, 12)),
            Check("does not", sizes("LTSA", ROLL, 6, 15, 30, 60)),
        ),
        "Six neighbours and the point itself are more than the three that a plane needs.",
    )
    yield Claim(
        "13.7",
        "HLLE recovers the roll with k from 8 to 30, and not with 60",
        (
            Check("works", sizes("HLLE", ROLL, 8, 10, 12, 15, 30)),
            Check("does not", sizes("HLLE", ROLL, 60)),
        ),
        "Neighbourhoods of 30 among 1000 points reach far enough for the roll to curve: LTSA and "
        "HLLE work up to the same k.",
    )
    yield from _shapes_of_tangents()
    hole = "hole: Swiss roll with a hole, n = 600, k = 12"
    yield Claim(
        "13.8",
        "With 600 points and a hole in the roll HLLE finds the chart, Isomap and LLE do not",
        (
            Check("chart", [(hole, "HLLE")]),
            Check("no chart", [(hole, "Isomap"), (hole, "LLE")]),
        ),
    )


def _noise_of_tangents() -> Iterator[Claim]:
    yield Claim(
        "11.3",
        "LTSA works with noise 0.1 on roll and S-curve, and not on the sphere",
        (
            Check("works", noisy("LTSA", 0.1, ROLL, CURVE)),
            Check("does not", noisy("LTSA", 0.1, SPHERE)),
        ),
    )
    for noise in (0.2, 0.4):
        yield Claim(
            "11.3 (text)",
            f"LTSA fails everywhere with noise {noise}",
            (Check("does not", noisy("LTSA", noise, *ALL)),),
            THIN,
        )
    yield Claim(
        "13.3",
        "HLLE fails on roll and S-curve with noise 0.4",
        (Check("does not", noisy("HLLE", 0.4, ROLL, CURVE)),),
    )
    yield Claim(
        "13.2–13.3",
        "Under noise 0.2 Isomap and Leigs are better than HLLE on roll and S-curve",
        (
            *rivals(noisy("Isomap", 0.2, ROLL, CURVE), "HLLE"),
            *rivals(noisy("Leigs", 0.2, ROLL, CURVE), "HLLE"),
        ),
        THIN,
    )


def _shapes_of_tangents() -> Iterator[Claim]:
    for figure, method in (("10.5", "LLE"), ("11.6", "LTSA")):
        best = along(method, ROLL, (51, 21, 81), "length")
        yield Claim(
            figure,
            f"{method} recovers the roll of length 51 better than 21 and 81",
            (Check("first least", best),),
            "With the same number of points, longer rolls have wider gaps.",
        )
    for figure, method in (("11.5", "LTSA"), ("13.4", "HLLE")):
        yield Claim(figure, f"{method} mixes more on higher spheres", (higher(method),))
    for figure, method in (("11.6", "LTSA"), ("13.5", "HLLE")):
        yield Claim(figure, f"{method} fails on the roll of length 81", (last(method, ROLL),))
    for figure, method in (("11.7", "LTSA"), ("13.6", "HLLE")):
        yield Claim(figure, f"{method} mixes more on longer S-curves", (longer(method, CURVE),))
    high = along("HLLE", SPHERE, (0.9,), "height")[0][0]
    yield Claim(
        "13.4",
        "On the highest sphere HLLE is worse than LTSA, LLE and Leigs",
        tuple(
            Check("first least", [(high, method), (high, "HLLE")])
            for method in ("LTSA", "LLE", "Leigs")
        ),
    )


def _waves() -> Iterator[Claim]:
    yield Claim(
        "12.1", "Leigs recovers S-curve and sphere", (Check("works", on("Leigs", CURVE, SPHERE)),)
    )
    yield Claim("12.1", "Leigs fails on the 3-D cluster", (Check("a curve", on("Leigs", CLUSTER)),))
    yield Claim(
        "12.2",
        "Under noise 0.2 Leigs is better than LTSA and LLE on sphere, roll and S-curve",
        (*rivals(noisy("Leigs", 0.2, *ALL), "LTSA", "LLE"),),
        STRIP,
    )
    yield Claim("12.4", "Leigs mixes more on higher spheres", (higher("Leigs"),))
    yield Claim(
        "12.4",
        "On the highest sphere Leigs is better than LTSA and LLE",
        (*rivals(along("Leigs", SPHERE, (0.9,), "height"), "LTSA", "LLE"),),
    )
    yield Claim("12.5", "Leigs mixes more on longer rolls", (longer("Leigs", ROLL),), STRIP)
    yield Claim("12.6", "Leigs mixes more on longer S-curves", (longer("Leigs", CURVE),))


def _diffusion() -> Iterator[Claim]:
    yield Claim(
        "14.1",
        "GL-Dmaps recover S-curve and sphere",
        (Check("works", on("GL-Dmaps", CURVE, SPHERE)),),
    )
    yield Claim(
        "14.1", "GL-Dmaps mix nothing on the roll", (Check("works", on("GL-Dmaps", ROLL)),), STRIP
    )
    yield Claim(
        "14.1", "GL-Dmaps show the cluster", (Check("shown", on("GL-Dmaps", CLUSTER)),), CHAIN
    )
    yield Claim(
        "14.2",
        "Noise 0.2 does not affect GL-Dmaps on sphere and S-curve",
        (Check("works", noisy("GL-Dmaps", 0.2, SPHERE, CURVE)),),
        "Noise of 0.2 is two fifths of the radius of the sphere; nothing shows it then.",
    )
    yield Claim("14.4", "GL-Dmaps mix more on higher spheres", (higher("GL-Dmaps"),))
    yield Claim(
        "14.4",
        "On the highest sphere GL-Dmaps are better than Isomap, LLE, LTSA, HLLE and Leigs",
        (
            *rivals(
                along("GL-Dmaps", SPHERE, (0.9,), "height"),
                *("Isomap", "LLE", "LTSA", "HLLE", "Leigs"),
            ),
        ),
    )
    yield Claim("14.5", "GL-Dmaps fail on the S-curve of length 30", (last("GL-Dmaps", CURVE),))
    for method, figure in zip(DMAPS, ("14.6", "14.10"), strict=True):
        cells = sizes(method, CURVE, 5, 8, 10, 15, 30, 60)
        yield Claim(
            figure, f"{method} recover the S-curve with k from 5 to 60", (Check("works", cells),)
        )
    for method, figure in zip(DMAPS, ("14.7", "14.11"), strict=True):
        yield Claim(
            figure,
            f"{method} recover the S-curve with t from 1 to infinity",
            (Check("works", widths(method)),),
        )
    yield Claim(
        "14.8",
        "LB-Dmaps mix less than GL-Dmaps on sphere and S-curve",
        (*rivals(on("LB-Dmaps", SPHERE, CURVE), "GL-Dmaps"),),
    )
    alike = [
        Check("alike", [*on("ST-Dmaps", name), *on("GL-Dmaps", name)]) for name in (SPHERE, CURVE)
    ]
    yield Claim("14.12", "ST-Dmaps are like GL-Dmaps on sphere and S-curve", tuple(alike))
