/** The look of `/docs`, in light and dark as the reader's system prefers. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --paper: #ffffff; --shade: #f6f7f9; --ink: #1c2128; --faint: #626c78; --line: #dfe3e8;
  --link: #0b57b7; --get: #1a7f4b; --post: #0b57b7; --put: #9a5b00; --other: #6a3fb5; --bad: #b3261e }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12161c; --shade: #1a2029; --ink: #e3e8ee; --faint: #97a3b1; --line: #2d3642;
    --link: #79b3ff; --get: #5bd08f; --post: #79b3ff; --put: #f0b65a; --other: #c3a2ff; --bad: #ff8d84 } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; display: flex }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
code, pre, .path { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .87em }
code { background: var(--shade); border-radius: 4px; padding: .1em .3em }
pre { background: var(--shade); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; margin: .3rem 0 1rem;
  overflow: auto; max-height: 30rem }
nav { width: 21rem; flex: none; height: 100vh; position: sticky; top: 0; overflow: auto; padding: 1.2rem 1rem;
  border-right: 1px solid var(--line); background: var(--shade) }
nav h1 { font-size: 1.15rem; margin: 0 }
nav h2 { font-size: .78rem; letter-spacing: .05em; text-transform: uppercase; color: var(--faint); margin: 1.2rem 0 .2rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav li a { display: flex; gap: .5rem; align-items: baseline; padding: .12rem .3rem; border-radius: 4px; color: var(--ink) }
nav li a:hover { background: var(--line); text-decoration: none }
nav .path { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
input { width: 100%; margin-top: .8rem; padding: .45rem .6rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: 6px }
main { flex: 1; min-width: 0; max-width: 64rem; padding: 1.6rem 2.2rem 6rem }
main > section > h2 { margin: 2.4rem 0 .6rem; font-size: 1.3rem }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem }
.faint { color: var(--faint) }
.operation { border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0 }
.operation > summary { cursor: pointer; display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: baseline; list-style: none;
  padding: .55rem .9rem }
.operation > summary::-webkit-details-marker { display: none }
.operation[open] > summary { border-bottom: 1px solid var(--line) }
.operation > div { padding: .3rem 1rem 1rem }
.method { font: 700 .72rem/1.4 ui-monospace, Menlo, Consolas, monospace; min-width: 3rem; color: var(--other) }
.get { color: var(--get) } .post { color: var(--post) } .put { color: var(--put) } .delete { color: var(--bad) }
.schema { margin: 0; padding: 0 0 0 .9rem; border-left: 2px solid var(--line); list-style: none }
.schema li { padding: .12rem 0 }
.schema summary, .response > summary { cursor: pointer }
.response { padding: .15rem 0 }
.name { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .87em; font-weight: 600 }
.required { color: var(--bad); font-size: .8em }
.type { color: var(--faint); font-size: .88em }
[hidden] { display: none !important }
@media (max-width: 56rem) { body { display: block } nav { position: static; width: auto; height: auto; max-height: 45vh;
  border-right: 0; border-bottom: 1px solid var(--line) } main { padding: 1rem } }
`
