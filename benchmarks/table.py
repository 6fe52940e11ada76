"""The results as Markdown."""

from typing import Any

Results = dict[str, Any]
Record = dict[str, Any]


def markdown(results: Results, limit: bool) -> str:
    """Figures first, then every panel, then what it was measured on."""
    blocks = ["# Benchmarks", _settings(results["settings"])]
    if results.get("figures"):
        blocks += ["## Figures", _figures(results["figures"])]
    for panel in dict.fromkeys(case["panel"] for case in results["cases"].values()):
        cases = [case for case in results["cases"].values() if case["panel"] == panel]
        blocks += [f"## {panel}", _panel(sorted(cases, key=lambda case: case["n"]))]
    stages = {k: v for k, v in results.get("stages", {}).items() if isinstance(v, dict)}
    if limit and any("limit" in stage for stage in stages.values()):
        blocks += ["## Stages", _stages(stages)]
    blocks += ["## Machine", _machine(results)]
    return "\n\n".join(blocks) + "\n"


def _settings(settings: Record) -> str:
    return (
        f"Threads: {settings['threads']}. Contenders took turns, each run in a fresh process after "
        f"a warm-up on 300 rows, at most {settings['rounds']} runs; the one of least CPU time is "
        f"shown. A run of more than {settings['once_above']:.0f} s was not repeated, one of more "
        f"than {settings['timeout']:.0f} s was cut. *Fit MB* is the peak above what the process "
        "held before the fit. *× ours* is CPU time over ours. How to read the rest: "
        "`docs/benchmarks.md`."
    )


def _rows(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _stages(stages: dict[str, Record]) -> str:
    """Time of one thread, the least that the work of a stage takes, and what bounds it."""
    head = ["stage", "one thread s", "limit s", "bound by", "share", "what the limit leaves out"]
    body = [
        [
            name,
            f"{stage['one']:.3g}",
            f"{stage['limit']['seconds']:.3g}",
            stage["limit"]["by"],
            f"{100 * stage['limit']['fraction']:.0f} %",
            stage["limit"]["why"],
        ]
        for name, stage in stages.items()
        if "limit" in stage
    ]
    return _rows(head, body)


def _figures(figures: list[Record]) -> str:
    words = {True: "yes", False: "**no**", None: "–"}
    head = ["figure", "target", "measured", "met"]
    body = [[f["figure"], f["target"], f["measured"], words[f["met"]]] for f in figures]
    return _rows(head, body)


def _panel(cases: list[Record]) -> str:
    head = ["n", "contender", "CPU s", "wall s", "× ours", "peak MB", "fit MB", "accuracy", "runs"]
    rows = [_row(case, who, record) for case in cases for who, record in case["contenders"].items()]
    return _rows(head, rows)


def _row(case: Record, who: str, record: Record) -> list[str]:
    variant = f" {case['variant']}" if case["variant"] else ""
    placed = f" + {case['new']} new" if case["new"] else ""
    row = [f"{case['n']}{placed}{variant}", f"**{who}**" if who == "unbend" else who]
    if record["status"] != "ok":
        return row + [record["status"].replace("|", "/")] + [""] * 6
    ours = case["contenders"]["unbend"]
    ratio = f"{record['cpu'] / ours['cpu']:.2f}" if ours["status"] == "ok" else ""
    scaled = f" (scaled ×{record['scaled']:.0f})" if "scaled" in record else ""
    row += [number(record["cpu"]) + scaled, number(record["wall"]), ratio]
    row += [f"{record['peak_mb']:.0f}", f"{record['grown_mb']:.0f}", accuracy(record)]
    return [*row, str(len(record["all_cpu"]))]


def number(value: float) -> str:
    """Three digits, without an exponent where that is readable."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def accuracy(record: Record) -> str:
    """Everything known about how right the answer is."""
    known, facts = record.get("accuracy", {}), record.get("facts", {})
    parts = []
    if "r2" in known:
        parts.append("R² " + " ".join(f"{r:.5f}" for r in known["r2"]))
    if "procrustes" in known:
        parts.append(f"Procrustes {known['procrustes']:.1e}")
    if "angle" in known:
        parts.append(f"angle {known['angle']:.1e}")
    if "residual" in facts:
        parts.append(f"residual {facts['residual']:.1e}")
    if "recall" in known:
        parts.append(f"recall {known['recall']:.4f}")
    if "rand" in known:
        parts.append(f"Rand {known['rand']:.3f}")
    if "wrong" in known:
        parts.append(known["wrong"])
    return ", ".join(parts)


def _machine(results: Results) -> str:
    lines = []
    for name, machine in results["machines"].items():
        versions = ", ".join(
            f"{package} {found or '(not installed)'}"
            for package, found in machine["versions"].items()
        )
        lines.append(
            f"- `{name}`: {machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python "
            f"{machine['python']}, {machine['kernels']} kernels, commit {machine['commit']}; "
            f"{versions}."
        )
    rates = results.get("limits", {})
    if "bandwidth" in rates:
        lines.append(
            f"- Bandwidth {rates['bandwidth'] / 1e9:.1f} GB/s, products {rates['sgemm'] / 1e9:.0f} "
            f"(single) and {rates['dgemm'] / 1e9:.0f} (double) Gflop/s, with the same threads."
        )
    return "\n".join(lines)
