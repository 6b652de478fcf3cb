"""Runs one catalogue of exercises against the service with each token, and prints the matrix.

check.py PROGRAM FAULTY_MODULE WORK [--write] [NAME...]
"""

import json, os, subprocess, sys, time, traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tokens
from exercises import Exercises, catalogue
from outages import mistakes, outages
from service import Cannot, Failure, Service, psql, url

program, faulty, work, *arguments = sys.argv[1:]
work, write = Path(work), "--write" in arguments
names = [name for name in arguments if name != "--write"] or list(tokens.ALL)
README = Path("docs/hsm/README.md")
BEGIN, END = "<!-- matrix: made by ./dev verify tokens --write -->", "<!-- end of the matrix -->"
PARALLEL = 3
YES, NO = "yes", "no"


def judge(exercise, needed, abilities):
    """The cell of an exercise: yes, or no where the service and doctor say so. Everything else fails."""
    works = all(abilities.get(row, False) for row in needed)
    try:
        exercise()
    except Cannot as answer:
        return f"FAILS: doctor says that it works: {answer}" if works else NO
    except Failure as failure:
        return f"FAILS: {failure}"
    except Exception as error:
        return f"FAILS: {error!r}"
    return YES if works else "FAILS: doctor says that it is missing"


def doctor(service):
    """What doctor shows as working."""
    ended = service.command("doctor", "--json")
    [report] = json.loads(ended.stdout)["tokens"]
    if "operations" not in report:
        raise Failure(f"doctor has no table: {report}")
    rows = {(row["operation"], row["algorithm"]): row["works"] != "missing"
            for row in report["operations"] + report["imports"]}
    return rows


def examine(name):
    """The column of one token."""
    token, rows = tokens.ALL[name](work), {}
    service = Service(program, token, work / f"{name}-service")
    try:
        # Before the start, because tpm2-pkcs11 reads its store only then.
        foreign_key = token.make_foreign_key()
        service.prepare()
        abilities = doctor(service)
        exercises = Exercises(service, foreign_key)
        for group, title, needed, exercise in catalogue(exercises):
            rows[group, title] = judge(exercise, needed, abilities)
        for title, exercise in outages(service, exercises):
            rows["Outages", title] = judge(exercise, [], {}) if token.daemon else "–"
        for title, exercise in mistakes(service, faulty):
            rows["Settings", title] = judge(exercise, [], {})
    except Exception as error:
        rows["Start", "`sealward init` and `sealward serve`"] = f"FAILS: {error}"
        traceback.print_exc()
    finally:
        service.stop()
        token.end()
        log = service.folder / "serve.log"
        if log.exists() and any(cell.startswith("FAILS") for cell in rows.values()):
            lines = [line for line in log.read_text().splitlines() if '"level":"INFO"' not in line]
            print(f"--- {name}: the log", *lines[-20:], sep="\n", file=sys.stderr)
        subprocess.run([*psql, "-c", f"drop database if exists {service.database} with (force)"],
                       env={**os.environ, "PGPASSWORD": url.password or ""})
    return rows


def matrix(columns):
    titles = [tokens.ALL[name].title for name in columns]
    lines = [f"| Exercise | {' | '.join(titles)} |", f"|---{'|---' * len(titles)}|"]
    order = list(dict.fromkeys(row for rows in columns.values() for row in rows))
    group = None
    for row in order:
        if row[0] != group:
            group = row[0]
            lines.append(f"| **{group}** |{' |' * len(titles)}")
        cells = [rows.get(row, "").partition(":")[0] for rows in columns.values()]
        lines.append(f"| {row[1]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def column(table, title):
    """The column of a token in a matrix that was printed before."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    if not cells or title not in cells[0]:
        sys.exit(f"the matrix has no column for {title}: run the check without names")
    place, group, rows = cells[0].index(title), "", {}
    for first, *rest in cells[2:]:
        if first.startswith("**"):
            group = first.strip("*")
        else:
            rows[group, first] = rest[place - 1]
    return rows


def timed(name):
    began = time.monotonic()
    return examine(name), time.monotonic() - began


# The tokens do not depend on each other, and most of the time passes in outages.
with ThreadPoolExecutor(PARALLEL) as pool:
    columns = {}
    for name, (rows, took) in zip(names, pool.map(timed, names)):
        columns[name] = rows
        failed = [row for row, cell in rows.items() if cell.startswith("FAILS")]
        print(f"{name}: {len(rows)} exercises, {len(failed)} fail, {took:.0f} s", flush=True)
        for row in failed:
            print(f"  {row[0]}, {row[1]}: {rows[row]}", flush=True)
print(matrix(columns))
if any(cell.startswith("FAILS") for rows in columns.values() for cell in rows.values()):
    sys.exit(1)
page = README.read_text()
before, _, rest = page.partition(BEGIN)
former, _, after = rest.partition(END)
if write:
    columns = {name: columns.get(name) or column(former, tokens.ALL[name].title) for name in tokens.ALL}
    README.write_text(f"{before}{BEGIN}\n{matrix(columns)}\n{END}{after}")
elif any(rows != column(former, tokens.ALL[name].title) for name, rows in columns.items()):
    sys.exit(f"{README} shows other results: ./dev verify tokens --write")
