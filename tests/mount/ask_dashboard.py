#!/usr/bin/env python3
"""Asks a Prometheus every query of a Grafana dashboard, as Grafana would with all variables at "All".

    ask_dashboard.py API DASHBOARD

Fails, and names the query, if one is not understood or has no result. Prints how many there were."""

import json
import re
import sys
import urllib.parse
import urllib.request


def ask(api, path, **arguments):
    url = f"{api}/{path}?{urllib.parse.urlencode(arguments)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        return sys.exit(f"{arguments}: {error.read().decode()}")


def substitute(query, variables):
    query = query.replace("$__rate_interval", "10s")
    for name, values in variables.items():
        query = re.sub(rf"\${name}\b", "|".join(map(re.escape, values)).replace("\\", "\\\\\\\\"), query)
    if "$" in query:
        sys.exit(f"{query}: a variable that nobody has defined")
    return query


def values_of(api, definition, variables):
    metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", definition).groups()
    return ask(api, f"label/{label}/values", **{"match[]": substitute(metric, variables)})


def panels_of(dashboard):
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


def main():
    api, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    variables = {}
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            variables[variable["name"]] = values_of(api, variable["definition"], variables)
            if not variables[variable["name"]]:
                sys.exit(f"{variable['definition']}: no values")
    queries = [target["expr"] for panel in panels_of(dashboard) for target in panel.get("targets", [])]
    for query in queries:
        asked = substitute(query, variables)
        if not ask(api, "query", query=asked)["result"]:
            sys.exit(f"{asked}: no result")
    print(len(queries))


if __name__ == "__main__":
    main()
