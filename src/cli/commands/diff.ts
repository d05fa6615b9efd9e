import { textFrom } from '../command/ask-server.ts'
import { serverOf, wordsOf } from '../command/at-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { NAME_USAGE, parseName, retrieve, shownRevision } from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { harmless, paint, type Terminal } from '../command/terminal.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint diff A B [--json]

  Prints what changed from A to B: the lines of each text and file, of testsets the rows. Exit code 0, whether they differ or not.

  A, B           names as below; B may be short where the name is the same: diff support-bot@2 @production
${NAME_USAGE}
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint diff support-bot@production support-bot`

/** The command `diff`: what changed between two revisions. */
export const diffCommand: Command = { usage: USAGE, needsWords: true, run }

interface Row {
  readonly data: Readonly<Record<string, unknown>>
}

interface Answer {
  readonly diff: {
    readonly files?: readonly { readonly path: string; readonly diff: string }[]
    readonly rows?: {
      readonly added: readonly Row[]
      readonly removed: readonly Row[]
      readonly changed: readonly { readonly base: Row; readonly head: Row }[]
    }
    readonly columns?: { readonly added: readonly string[]; readonly removed: readonly string[] }
  }
  readonly windowing?: object
}

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.diff.options, { usage: USAGE })
  const [first = '', second = ''] = wordsOf(positionals, { least: 2, missing: 'Name two versions.' }, USAGE)
  const base = parseName(first, USAGE)
  const short = /^[@:]/.test(second) ? `${first.replace(/[@:].*$/, '')}${second}` : second
  const head = parseName(short, USAGE)
  const server = await serverOf(values, shell, USAGE)
  const [from, to] = await Promise.all([base, head].map((it) => retrieve(server, it)))
  if (!from || !to) throw new Error('two names are two revisions')
  const { path } = from.artifact.kind
  const body = { base: { id: from.revision.id }, head: { id: to.revision.id } }
  const text = await textFrom(server, 'POST', `/${path}/revisions/diff`, { body })
  const { diff, windowing } = JSON.parse(text) as Answer
  const lines = values.json ? [text] : linesOf(diff, shell.terminal)
  if (lines.length > 0) await shell.show(lines.join('\n'))
  else {
    const sides = [from, to].map((it) => shownRevision(it.artifact, it.revision))
    shell.progress.write(`Nothing differs between ${sides.join(' and ')}.\n`)
  }
  if (windowing && !values.json)
    shell.progress.write('There is more than a page: --json shows the first, and where the next begins.\n')
  return 0
}

function linesOf({ files = [], rows, columns }: Answer['diff'], terminal: Terminal): readonly string[] {
  const coloured = (line: string): string => {
    const shown = harmless(line)
    if (/^(?:---|\+\+\+|diff )/.test(line)) return paint(terminal, 'bold', shown)
    if (line.startsWith('@@')) return paint(terminal, 'cyan', shown)
    return line.startsWith('+')
      ? paint(terminal, 'green', shown)
      : line.startsWith('-')
        ? paint(terminal, 'red', shown)
        : shown
  }
  const signed = (sign: string, it: readonly unknown[]): string[] =>
    it.map((value) => `${sign} ${JSON.stringify(value)}`)
  const changed = (rows?.changed ?? []).flatMap((it) => [
    ...signed('-', [it.base.data]),
    ...signed('+', [it.head.data]),
  ])
  return [
    ...files.flatMap((file) => file.diff.trimEnd().split('\n')),
    ...(columns?.removed ?? []).map((name) => `- column ${name}`),
    ...(columns?.added ?? []).map((name) => `+ column ${name}`),
    ...signed(
      '-',
      (rows?.removed ?? []).map((it) => it.data),
    ),
    ...changed,
    ...signed(
      '+',
      (rows?.added ?? []).map((it) => it.data),
    ),
  ].map(coloured)
}
