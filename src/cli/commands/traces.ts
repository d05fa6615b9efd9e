import { textFrom } from '../command/ask-server.ts'
import { type AtServerOptions, countOf, serverOf, showTable, wordsOf } from '../command/at-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { findArtifact, parseName } from '../command/names.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { oneLine, shownTime } from '../command/terminal.ts'
import { textTable } from '../command/text-table.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint traces list [NAME] [--failed] [--limit N] [--json]
branchpoint traces show ID [--json]

  Lists runs, the newest first, or prints one with its steps, inputs and outputs.

  NAME           only runs of this prompt, evaluator or workflow
  ID             of the trace: run prints it
  --failed       only runs in which something failed
  --limit        how many at most (20)
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint traces list support-bot --failed`

/** The command `traces`: what ran, and how. */
export const tracesCommand: Command = { usage: USAGE, needsWords: true, run }

const DEFAULT_LIMIT = 20

interface Span {
  readonly span_name: string
  readonly span_id: string
  readonly start_time: string
  readonly end_time: string
  readonly status_code: string
  readonly status_message?: string
  readonly references?: readonly { readonly slug?: string; readonly attributes: { readonly key: string } }[]
  readonly attributes?: {
    readonly svc?: { readonly data?: { readonly inputs?: unknown; readonly outputs?: unknown } }
  }
  readonly spans?: Spans
}
type Spans = Readonly<Record<string, Span | readonly Span[]>>

interface Trace {
  readonly trace_id: string
  readonly spans: Spans
}

async function run([command = '', ...args]: readonly string[], shell: Shell): Promise<number> {
  const { words } = VERBS.traces
  if (!words.some((word) => word === command)) throw unknownWord(command, words, USAGE)
  const { values, positionals } = readArguments(args, VERBS.traces.options, { usage: USAGE })
  if (command === 'list') return list(positionals, values, shell)
  const [id = ''] = wordsOf(positionals, { least: 1, missing: 'Name the trace by its id.' }, USAGE)
  const server = await serverOf(values, shell, USAGE)
  const text = await textFrom(server, 'GET', `/traces/${encodeURIComponent(id)}`)
  if (values.json) await shell.show(text)
  else {
    const { trace } = JSON.parse(text) as { readonly trace: Trace }
    await shell.show(
      below(trace.spans)
        .map((span) => told(span, 0, shell))
        .join('\n'),
    )
  }
  return 0
}

async function list(
  positionals: readonly string[],
  values: AtServerOptions & { readonly limit?: string; readonly failed?: boolean; readonly json?: boolean },
  shell: Shell,
): Promise<number> {
  const [word] = wordsOf(positionals, { least: 0, most: 1, missing: '' }, USAGE)
  const limit = countOf(values.limit, DEFAULT_LIMIT, '--limit', USAGE)
  const server = await serverOf(values, shell, USAGE)
  const artifact = word === undefined ? undefined : await findArtifact(server, parseName(word, USAGE))
  const conditions = [
    ...(artifact ? [{ field: 'references', operator: 'has', value: { slug: artifact.slug } }] : []),
    ...(values.failed ? [{ field: 'status_code', value: 'STATUS_CODE_ERROR' }] : []),
  ]
  const body = { filtering: { conditions }, windowing: { limit } }
  const text = await textFrom(server, 'POST', '/traces/query', { body })
  const { traces, windowing } = JSON.parse(text) as {
    readonly traces: readonly Trace[]
    readonly windowing?: object
  }
  if (values.json) await shell.show(text)
  else {
    const rows = traces.flatMap(({ trace_id: id, spans }) => {
      const [root] = below(spans)
      return root
        ? [[id, shownTime(root.start_time, shell.terminal), whatRan(root), duration(root), status(root)]]
        : []
    })
    await showTable(shell, ['TRACE', 'WHEN', 'WHAT', 'MS', 'STATE'], rows, 'There is no such trace.')
  }
  if (windowing) shell.progress.write(`There is more: --limit ${2 * limit} shows it.\n`)
  return 0
}

/** Spans of one name are a list. */
function below(spans: Spans = {}): readonly Span[] {
  return Object.values(spans).flat() as readonly Span[] // readonly arrays are flattened, too
}

/** A span with its inputs and outputs, and those below it two spaces deeper. */
function told(span: Span, depth: number, shell: Shell): string {
  const { inputs, outputs } = span.attributes?.svc?.data ?? {}
  const lines = [
    ['when', shownTime(span.start_time, shell.terminal)],
    ['took', `${duration(span)} ms`],
    ['state', status(span)],
    ...(inputs === undefined ? [] : [['inputs', JSON.stringify(inputs)]]),
    ...(outputs === undefined
      ? []
      : [['outputs', typeof outputs === 'string' ? outputs : JSON.stringify(outputs)]]),
  ].map(([title = '', text = '']) => [`  ${title}`, oneLine(text)])
  const own = [whatRan(span), textTable(lines)].join('\n')
  const margin = '  '.repeat(depth)
  return [own.replaceAll(/^/gm, margin), ...below(span.spans).map((it) => told(it, depth + 1, shell))].join(
    '\n',
  )
}

/** `support-bot-3 (completion_v0)`: the revision, and the span's name. */
function whatRan({ span_name: name, references = [] }: Span): string {
  const revision = references.find((it) =>
    /^(?:application|evaluator|workflow)_revision$/.test(it.attributes.key),
  )
  const slug = revision?.slug ?? references[0]?.slug
  return slug === undefined ? name : `${slug} (${name})`
}

function duration({ start_time: start, end_time: end }: Span): string {
  return String(Math.max(0, Date.parse(end) - Date.parse(start)))
}

function status({ status_code: code, status_message: message }: Span): string {
  return code === 'STATUS_CODE_ERROR' ? `failed${message === undefined ? '' : `: ${message}`}` : 'ok'
}
