import { parseCommit } from '../../git/objects.ts'
import { TimeSlice, yieldToEventLoop } from '../../base/scheduling.ts'
import { type Json, stringifyJson } from '../../base/json.ts'
import { readBytes } from '../../registry/families.ts'
import { changeNotes } from '../../registry/push.ts'
import type { Registry, WriteContext } from '../../registry/registries.ts'
import { type RevisionLocation, writeCommit } from '../../registry/revisions.ts'
import type { LoggedRow } from './evaluation-log.ts'
import type { EvaluationPlan, EvaluationSummary, RowResult } from './evaluation.ts'

/** The ref of result sets: `git log --notes=evaluations` shows them next to the revisions. */
export const NOTES_REF = 'refs/notes/evaluations'

/**
 * Writes the results of an evaluation as a git note on the application's revision, in JSON Lines: the summary, then a line per row, after
 * those of other evaluations. Writing again replaces the evaluation's lines. Rows are left out if they would make the note too large for
 * clones; the summary is always written.
 */
export async function writeEvaluationNote(
  registry: Registry,
  { artifact, oid }: RevisionLocation,
  { plan, summary, finishedAt, results }: ResultSet,
  context: WriteContext,
): Promise<void> {
  const head = bytesOf(headLine(plan, summary, finishedAt))
  const rows = await rowLines(plan.id, results)
  await artifact.repository.transact(async (transaction) => {
    const parent = transaction.ref(NOTES_REF)
    const root = parent && parseCommit(await readBytes(transaction, parent, 'commit')).tree
    const commit = {
      tree: await changeNotes(transaction, root, [oid], async (note) => {
        const before = note === undefined ? Buffer.alloc(0) : await readBytes(transaction, note, 'blob')
        const others = await withoutEvaluation(withFinalLineFeed(before), plan.id)
        // Reading, joining and hashing may each take long.
        await yieldToEventLoop()
        const fits = others.length + rows.length <= MAX_BYTES_OF_NOTE
        const joined = Buffer.concat(fits ? [others, head, rows] : [others, head])
        await yieldToEventLoop()
        return transaction.write('blob', joined)
      }),
      parents: parent === undefined ? [] : [parent],
      message: subjectOf(plan),
    }
    transaction.move(NOTES_REF, writeCommit(registry, transaction, commit, context).oid)
  })
}

export interface ResultSet {
  readonly plan: EvaluationPlan
  readonly summary: EvaluationSummary
  readonly finishedAt: string
  readonly results: AsyncIterable<LoggedRow> | Iterable<LoggedRow>
}

function subjectOf({ application, testset, rows }: EvaluationPlan): string {
  return `Evaluate ${application.revision_slug} with ${testset.revision_slug} (${rows} rows)`
}

/** The first line of an evaluation: what was judged, and how. What it took is in the log alone. */
function headLine(
  plan: EvaluationPlan,
  { usage: _, ...summary }: EvaluationSummary,
  finishedAt: string,
): string {
  const { id, created_at, created_by, testset, application, evaluators, outputs_from: source } = plan
  const head = {
    evaluation: {
      id,
      created_at,
      finished_at: finishedAt,
      created_by,
      testset,
      application,
      evaluators,
      ...(source === undefined ? {} : { outputs_from: source }),
      summary,
    },
  }
  return stringifyJson(head as unknown as Json) // only plain members
}

/** A row's scores and verdicts. The outputs are in the log and the traces. */
function rowLine(evaluation: string, { testcase_id, trace_id, application, evaluators }: RowResult): string {
  const line = {
    evaluation,
    testcase_id,
    trace_id,
    ...('error' in application ? { error: application.error } : {}),
    evaluators,
  }
  return stringifyJson(line as unknown as Json) // as above
}

/** The lines of an evaluation's rows; empty if they are too large together. */
async function rowLines(evaluation: string, results: ResultSet['results']): Promise<Buffer> {
  const lines: Buffer[] = []
  let length = 0
  const slice = new TimeSlice()
  for await (const row of results) {
    await slice.pause()
    const line = bytesOf(rowLine(evaluation, row.read()))
    length += line.length
    if (length > MAX_BYTES_OF_ROWS) return Buffer.alloc(0)
    lines.push(line)
  }
  return Buffer.concat(lines)
}

const MAX_BYTES_OF_ROWS = 32 * 1024 ** 2
const MAX_BYTES_OF_NOTE = 128 * 1024 ** 2

function bytesOf(line: string): Buffer {
  return Buffer.from(`${line}\n`)
}

/** The lines of other evaluations. */
async function withoutEvaluation(note: Buffer, id: string): Promise<Buffer> {
  const marks = [`{"evaluation":{"id":"${id}"`, `{"evaluation":"${id}"`].map((mark) => Buffer.from(mark))
  // Usually the note has no lines of this evaluation.
  if (!marks.some((mark) => note.includes(mark))) return note
  const slice = new TimeSlice()
  const others: Buffer[] = []
  for (let start = 0; start < note.length;) {
    const end = note.indexOf(LINE_FEED, start) + 1
    const line = note.subarray(start, end)
    const isOfIt = marks.some((mark) => line.subarray(0, mark.length).equals(mark))
    if (line.length > 1 && !isOfIt) others.push(line)
    start = end
    await slice.pause()
  }
  return Buffer.concat(others)
}

/** Notes written by git may lack the final newline. */
function withFinalLineFeed(note: Buffer): Buffer {
  return note.length === 0 || note.at(-1) === LINE_FEED ? note : Buffer.concat([note, Buffer.from('\n')])
}

const LINE_FEED = 0x0a
