import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'

/** A text of the repository, by its path. */
export interface CheckedText {
  readonly path: string
  readonly text: string
}

/** A rule of `docs/interface.md`: `<a id="4.7"></a>**4.7** …`. */
const RULE = /^<a id="(\d+\.\d+)"><\/a>\*\*\1\*\* /gm

/** `interface 4.7`, `interface 4.7, 4.9 and 5.1`. */
const CITATION = /\binterface (\d+\.\d+(?:(?:, | and |, and | to )\d+\.\d+)*)/g

/** Pages that are not in the repository, as comments cited them. */
const OUTSIDE =
  /\bcontract\/(?:workflows|testsets|environments|resolve|handlers|\*)|\brulings? (?:section )?\d|\b(?:wire|workbench|design|engine)(?:\.md)? (?:section )?\d|\b(?:wire|design|engine)\.md\b|\u00a7/

/** The numbers of the rules, in their order. */
export function rulesOf(page: string): string[] {
  return [...page.matchAll(RULE)].map(([, number = '']) => number)
}

/** Numbers that two rules have, as a merge may leave them. */
export function doubledRules(rules: readonly string[]): string[] {
  const doubled = rules.filter((number, index) => rules.indexOf(number) !== index)
  return doubled.map(
    (number) =>
      `docs/interface.md: two rules have the number ${number}; give the later one the next free number`,
  )
}

/** Comments that cite what is not in the repository: a reader cannot look it up. */
export function outsideCitations(texts: readonly CheckedText[]): string[] {
  return texts.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const [cited] = OUTSIDE.exec(line) ?? []
      return cited === undefined
        ? []
        : [
            `${path}:${index + 1} cites ${cited}, which is not in the repository: cite docs/interface.md, or say the reason`,
          ]
    }),
  )
}

/** Citations of rules that docs/interface.md does not have. */
export function unknownRules(texts: readonly CheckedText[], rules: readonly string[]): string[] {
  const known = new Set(rules)
  return texts.flatMap(({ path, text }) =>
    citedRules(text)
      .filter((number) => !known.has(number))
      .map((number) => `${path} cites interface ${number}, which docs/interface.md does not have`),
  )
}

/** Rules that no test names. */
export function unnamedRules(tests: readonly CheckedText[], rules: readonly string[]): string[] {
  const named = new Set(tests.flatMap(({ text }) => citedRules(text)))
  return rules.filter((number) => !named.has(number))
}

/** Links in documents that lead to no file of the repository, or to no heading or anchor of it. */
export function deadLinks(documents: readonly CheckedText[]): string[] {
  const anchors = new Map(documents.map(({ path, text }) => [path, anchorsOf(text)]))
  return documents.flatMap(({ path, text }) =>
    [...proseOf(text).matchAll(/\]\(([^()\s]+)(?: "[^"]*")?\)/g)].flatMap(([, target = '']) => {
      if (/^[a-z]+:/.test(target)) return []
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? path : normalize(join(dirname(path), decodeURI(file)))
      if (!existsSync(to)) return [`${path} links to ${target}, which is not there`]
      return anchor === undefined || (anchors.get(to)?.has(anchor) ?? true)
        ? []
        : [`${path} links to ${target}, which has no such heading`]
    }),
  )
}

function citedRules(text: string): string[] {
  return [...text.matchAll(CITATION)].flatMap(([, numbers = '']) => numbers.match(/\d+\.\d+/g) ?? [])
}

/** What of a page is no code. */
function proseOf(text: string): string {
  return text.replace(/^(`{3,}).*\n[^]*?^\1$/gm, '').replace(/`[^`\n]*`/g, '')
}

/** The anchors of a page as GitHub makes them: of headings, where a second one of a name gets `-1`, and those written out. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)">/g)].map(([, id = '']) => id))
  const counts = new Map<string, number>()
  for (const [, heading = ''] of text.replace(/^(`{3,}).*\n[^]*?^\1$/gm, '').matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}
