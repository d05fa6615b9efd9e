import type { RanFunction } from './messages.ts'
import { PlacesInText } from './places-in-text.ts'

/** What ran for one request. */
export interface CountedWay {
  readonly files: readonly CountedFile[]
  readonly functions: number
  readonly lines: number
}

/** A file in which a function ran. */
export interface CountedFile {
  /** Its address: that of the compiled file. */
  readonly url: string
  readonly functions: readonly RanFunction[]
  readonly lines: number
}

/**
 * Counts what ran but for what runs in a server at rest, too. A function counts once, however often and in however many threads it ran; the
 * top level of a module is no function, and neither are the fields of a class. Its lines are those from its first to its last in the compiled file, without blank ones and
 * comments: what is written inside it is a part of it, and a line that two functions share counts once.
 */
export function countWay(
  ran: readonly RanFunction[],
  atRest: readonly RanFunction[],
  textOf: (url: string) => string,
): CountedWay {
  const resting = new Set(atRest.map(keyOf))
  const distinct = new Map(ran.map((it) => [keyOf(it), it]))
  const byUrl = new Map<string, RanFunction[]>()
  for (const [key, it] of distinct) {
    if (resting.has(key) || INITIALIZER.test(it.name) || isModule(it, textOf(it.url))) continue
    const inFile = byUrl.get(it.url)
    if (inFile) inFile.push(it)
    else byUrl.set(it.url, [it])
  }
  const files = [...byUrl].map(([url, functions]) => ({
    url,
    functions: functions.sort((a, b) => a.start - b.start || b.end - a.end),
    lines: linesOf(functions, textOf(url)),
  }))
  const sum = (of: (file: CountedFile) => number): number => files.reduce((all, it) => all + of(it), 0)
  return { files, functions: sum((it) => it.functions.length), lines: sum((it) => it.lines) }
}

function keyOf({ url, start, end }: RanFunction): string {
  return `${url} ${start} ${end}`
}

/** What V8 makes of the fields of a class: a function that nobody wrote, which reaches from the first line of the class to its last. */
const INITIALIZER = /^<(?:instance_members|static)_initializer>$/

function isModule({ name, start, end }: RanFunction, text: string): boolean {
  return name === '' && start === 0 && end >= text.trimEnd().length
}

function linesOf(functions: readonly RanFunction[], text: string): number {
  const places = new PlacesInText(text)
  const isCode = codeLines(text)
  const ran = new Set<number>()
  for (const { start, end } of functions) {
    const last = places.at(end - 1).lineNumber
    for (let line = places.at(start).lineNumber; line <= last; line++) if (isCode[line]) ran.add(line)
  }
  return ran.size
}

/** Of each line of a compiled file, whether it is neither blank nor a comment. tsc begins each comment of several lines on a line of its own. */
function codeLines(text: string): readonly boolean[] {
  let isInComment = false
  return text.split('\n').map((whole) => {
    const line = whole.trim()
    const isComment = isInComment || line.startsWith('/*') || line.startsWith('//')
    if (isInComment || line.startsWith('/*')) isInComment = !line.includes('*/')
    return line !== '' && !isComment
  })
}
