import { Refusal } from '../../errors.ts'
import { doorTo, type Door, ask } from '../backup/ends/door.ts'
import { serverOf } from '../command/at-server.ts'
import { type ServerOptions, SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { resultTable } from './result-table.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import { objectUuid, parseUuid, repositoryDigits } from '../../registry/registries.ts'
import { COMMAND } from '../../command-name.ts'
import { parseJson } from '../../base/json.ts'
import { unreachable } from '../backup/unreachable.ts'
import { progressLine } from '../command/progress-line.ts'
import { type ProgressOutput, showProgress } from '../command/show-progress.ts'
import { type EvaluationAnswer, evaluationAnswer } from './evaluation-answer.ts'

/**
 * Runs an evaluation on the server, shows its progress, and answers its result. The signal stops it on the server. Throws a Refusal with the
 * server's message, or with how to resume if the connection breaks.
 */
async function followEvaluation(
  door: Door,
  path: string,
  body: object,
  { progress, signal }: { readonly progress: ProgressOutput; readonly signal: AbortSignal },
): Promise<EvaluationAnswer> {
  const headers = { ...door.headers, 'content-type': 'application/json', accept: 'application/x-ndjson' }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(door.base + path, request).catch((error: unknown) => {
    throw unreachable(door.base, error)
  })
  if (!response.ok || !response.body) throw await refusalOf(response)
  const began = performance.now()
  let latest: EvaluationAnswer | undefined
  let isStopping = false
  /** The evaluation can be stopped once its id is known. */
  const stop = (): void => {
    if (!signal.aborted || !latest || isStopping) return
    isStopping = true
    // If stopping fails, the stream still reports the end.
    fetch(`${door.base}/evaluations/${latest.id}/stop`, { method: 'POST', headers }).catch(() => undefined)
  }
  signal.addEventListener('abort', stop)
  const hide = showProgress(progress, () => {
    const done = latest?.summary.done ?? 0
    const seconds = (performance.now() - began) / 1000
    return progressLine({ unit: 'rows', done, total: latest?.rows, rows: done, seconds })
  })
  try {
    for await (const line of linesOf(response.body)) {
      const record = evaluationAnswer(parseJson(line))
      if ('message' in record) throw new Refusal('storage_unavailable', record.message)
      latest = record
      stop()
    }
  } catch (error) {
    // fetch throws a TypeError if the connection breaks
    throw error instanceof TypeError ? brokenOff(door, latest) : error
  } finally {
    hide()
    signal.removeEventListener('abort', stop)
  }
  if (!latest || latest.state === 'running') throw brokenOff(door, latest)
  return latest
}

function howToGoOn(id: string): string {
  return `Go on with: ${COMMAND} evaluate --resume ${id}`
}

function brokenOff(door: Door, latest: EvaluationAnswer | undefined): Refusal {
  const next = latest ? howToGoOn(latest.id) : 'Look with POST /evaluations/query whether it has begun one.'
  return new Refusal(
    'storage_unavailable',
    `The connection to ${door.base} ended before the evaluation did. ${next}`,
  )
}

async function refusalOf(response: Response): Promise<Refusal> {
  const answer = (await response.json().catch(() => undefined)) as { readonly detail?: unknown } | undefined // a problem document
  const why = typeof answer?.detail === 'string' ? answer.detail : `It answered ${response.status}.`
  return new Refusal('storage_unavailable', why)
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** A reference as a member of a request. */
type ReferenceMember = Readonly<Record<string, Readonly<Record<string, string | number>>>>

/** The reference in a name on the command line: a slug, `slug@version`, or the id of a revision. */
function revisionReference(singular: string, name: string): ReferenceMember {
  const id = parseUuid(name)
  if (id !== undefined) return { [`${singular}_revision_ref`]: { id } }
  const [, slug = name, version] = /^(.+)@([1-9][0-9]*)$/.exec(name) ?? []
  return version === undefined
    ? { [`${singular}_ref`]: { slug } }
    : { [`${singular}_revision_ref`]: { slug, version: Number(version) } }
}

/** The application revision of a commit; git resolves `commit` in `folder`. */
async function commitReference(
  door: Door,
  slug: string,
  commit: string,
  folder: string,
): Promise<ReferenceMember> {
  const oid = await objectId(commit, folder)
  const answer = z
    .object({ application_revision: z.object({ application_id: z.string() }) })
    .parse(
      await ask(
        door,
        'POST',
        '/applications/revisions/retrieve',
        JSON.stringify({ application_ref: { slug } }),
      ),
    )
  const digits = repositoryDigits(answer.application_revision.application_id)
  return { application_revision_ref: { id: objectUuid(oid, digits) } }
}

async function objectId(commit: string, folder: string): Promise<string> {
  if (/^[0-9a-f]{40}$/.test(commit)) return commit
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--verify', `${commit}^{commit}`], {
      cwd: folder,
    })
    return stdout.trim()
  } catch {
    throw new Refusal(
      'invalid_request',
      `--commit: "${commit}" names no commit in ${folder}. Run it in a clone of the application's repository, or give 40 hex digits.`,
    )
  }
}

const EVALUATE_USAGE = `branchpoint evaluate --testset T --application A --evaluator E [--evaluator F …] [options]

  Runs every row of a testset through an application, and what comes out through evaluators, on a running server, and prints a table.

  --testset, --application, --evaluator
                 a slug (its latest revision), slug@version, or the id of a revision
  --commit       the application's revision that is this commit of its repository: HEAD, a branch, an id
  --concurrency  how many rows at once (4)
  --threshold    the least that every evaluator must reach, 0 to 1
  --metric       what of: success_rate (passed rows of all) or mean_score (a row that failed counts 0); success_rate unless given
  --json         prints the record of the evaluation in place of the table
  --resume ID    go on with an evaluation that was interrupted; rows that are done are not run again
${SERVER_USAGE}

  Exit code 0: done, and nothing below the threshold; 1: something is below it; 128: it could not be run. So git bisect finds the
  revision that broke a prompt.

Example:
  git bisect run branchpoint evaluate --application A --commit HEAD --testset T --evaluator E --threshold 0.9`

/** Exit codes of `git bisect run`: good, bad, and abort (128 and more). */
const EXIT = { passed: 0, below: 1, cannot: 128 } as const

/** The command `evaluate`. Every failure, even a bug, exits with 128, because 1 means a bad revision to git bisect. */
export const evaluateCommand: Command = {
  usage: EVALUATE_USAGE,
  needsWords: true,
  stopped: () => 'Stopped.',
  failed: EXIT.cannot,
  run,
}

async function run(args: readonly string[], around: Shell): Promise<number> {
  const options: Options = readArguments(args, VERBS.evaluate.options, {
    usage: EVALUATE_USAGE,
    takesWords: false,
  }).values
  const { url, key } = await serverOf(options, around, EVALUATE_USAGE)
  const door = doorTo(url, key, new AbortController().signal)
  const threshold = thresholdOf(options.threshold)
  assertAlone(options)
  const metric = metricOf(options.metric)
  const [path, body] =
    options.resume === undefined
      ? ['/evaluations/run', await orderOf(options, door, around)]
      : [`/evaluations/${encodeURIComponent(options.resume)}/resume`, {}]
  const evaluation = await followEvaluation(door, path, body, around)
  around.print(options.json ? JSON.stringify(evaluation) : resultTable(evaluation).trimEnd())
  if (evaluation.state !== 'finished') {
    around.progress.write(`Stopped. ${howToGoOn(evaluation.id)}\n`)
    return EXIT.cannot
  }
  if (threshold === undefined) return EXIT.passed
  const judged = Object.entries(evaluation.summary.evaluators)
  if (evaluation.rows === 0 || judged.length === 0) {
    const lack = judged.length === 0 ? 'no evaluator took part' : 'the testset has no rows'
    throw new Refusal('invalid_request', `--threshold: there is nothing to compare with it, as ${lack}.`)
  }
  const below = judged.filter(([, it]) => (it[metric] ?? 0) < threshold)
  for (const [name, it] of below)
    around.progress.write(`${name}: ${metric} ${(it[metric] ?? 0).toFixed(3)} is below ${threshold}\n`)
  return below.length > 0 ? EXIT.below : EXIT.passed
}

interface Options extends ServerOptions {
  readonly project?: string
  readonly testset?: string
  readonly application?: string
  readonly evaluator?: string[]
  readonly commit?: string
  readonly concurrency?: string
  readonly threshold?: string
  readonly metric?: string
  readonly resume?: string
  readonly json?: boolean
}

/** Refuses options that would change a resumed evaluation. */
function assertAlone({ resume, ...options }: Options): void {
  const beside = (['testset', 'application', 'evaluator', 'commit', 'concurrency'] as const).find(
    (name) => options[name] !== undefined,
  )
  if (resume === undefined || beside === undefined) return
  throw new UsageError(
    `--${beside} cannot be given with --resume, which goes on with what was begun.`,
    EVALUATE_USAGE,
  )
}

function thresholdOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const threshold = Number(text)
  if (text.trim() !== '' && threshold >= 0 && threshold <= 1) return threshold
  throw new UsageError(`--threshold: "${text}" is not a number from 0 to 1.`, EVALUATE_USAGE)
}

function metricOf(text = 'success_rate'): 'success_rate' | 'mean_score' {
  if (text === 'success_rate' || text === 'mean_score') return text
  throw new UsageError(`--metric: "${text}" is neither success_rate nor mean_score.`, EVALUATE_USAGE)
}

async function orderOf(options: Options, door: Door, { folder }: Shell): Promise<object> {
  const { testset, application, evaluator = [], commit, concurrency = '4' } = options
  if (testset === undefined) throw new UsageError('--testset is missing.', EVALUATE_USAGE)
  if (application === undefined) throw new UsageError('--application is missing.', EVALUATE_USAGE)
  if (options.threshold !== undefined && evaluator.length === 0)
    throw new UsageError('--evaluator is missing: --threshold is what evaluators must reach.', EVALUATE_USAGE)
  if (!/^[1-9][0-9]{0,2}$/.test(concurrency))
    throw new UsageError(`--concurrency: "${concurrency}" is not a number from 1 on.`, EVALUATE_USAGE)
  const judges = evaluator.map((it) => revisionReference('evaluator', it))
  return {
    ...revisionReference('testset', testset),
    ...(await (commit === undefined
      ? revisionReference('application', application)
      : commitReference(door, application, commit, folder))),
    evaluator_revision_refs: referencesUnder('evaluator_revision_ref', judges),
    evaluator_refs: referencesUnder('evaluator_ref', judges),
    concurrency: Number(concurrency),
  }
}

function referencesUnder(member: string, references: readonly ReferenceMember[]): object[] {
  return references.map((it) => it[member]).filter((it) => it !== undefined)
}
