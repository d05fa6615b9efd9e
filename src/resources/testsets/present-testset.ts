import { JsonStream } from '../../json/json-stream.ts'
import { JsonText, stringifyJson } from '../../json/stringify-json.ts'
import type { PresentContext, PresentedPayload } from '../../versioning/family.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import { rowPage, rowRange } from './row-page.ts'
import type { RowEntry } from './row-tree.ts'
import { rowsOf } from './row-tree.ts'
import { withBytes } from './stored-rows.ts'
import { presentTestcase, testcaseId } from './testcase.ts'
import type { StoredTestset } from './testset-payload.ts'

/** The flags by which a request says what of a testset it wants to see (interface 4.6); each is true unless it is false. */
export const READ_FLAGS = ['include_testcases', 'include_testcase_ids'] as const

/** So many rows are answered in one piece; more is written while it is read. */
const IN_ONE_PIECE = 1000
/** How many rows of a longer answer are read together. */
const AT_ONCE = 512

/**
 * A testset as its reader asked for it: ids and rows unless they are left out, all of them or a page (ruling 5.8). A page
 * costs its rows, wherever it is; a whole large testset costs time and no memory.
 */
export async function presentTestset(
  testset: StoredTestset,
  { artifactId, source, asked }: PresentContext,
): Promise<PresentedPayload> {
  const shown = {
    rows: asked.flags['include_testcases'] !== false,
    ids: asked.flags['include_testcase_ids'] !== false,
  }
  if (!shown.rows && !shown.ids && asked.windowing?.limit === undefined) return { data: {} }
  const limit = asked.windowing?.limit
  const { rows, windowing } = await rowPage(
    source,
    testset,
    artifactId,
    asked.windowing,
    limit ?? IN_ONE_PIECE,
  )
  if (limit === undefined && windowing) {
    const range = await rowRange(source, testset.tree, artifactId, asked.windowing)
    const batches = () => rowsOf(source, testset.tree, range)
    return { data: new JsonStream(writeData(source, testset, artifactId, shown, batches)) }
  }
  const pieces = writeData(source, testset, artifactId, shown, () => inBatches(rows))
  if (rows.length > IN_ONE_PIECE) return { data: new JsonStream(pieces), windowing }
  return { data: new JsonText(await joined(pieces)), windowing }
}

async function* writeData(
  source: ObjectSource,
  { columns }: StoredTestset,
  testsetId: string,
  shown: { readonly rows: boolean; readonly ids: boolean },
  batches: () => AsyncIterable<readonly RowEntry[]>,
): AsyncGenerator<string> {
  yield '{'
  if (shown.ids) {
    yield '"testcase_ids":['
    yield* commaSeparated(batches(), async (rows) => rows.map(({ oid }) => `"${testcaseId(oid, testsetId)}"`))
    yield shown.rows ? '],' : ']'
  }
  if (shown.rows) {
    yield '"testcases":['
    yield* commaSeparated(batches(), async (rows) =>
      (await withBytes(source, rows)).map((row) => stringifyJson(presentTestcase(row, testsetId, columns))),
    )
    yield ']'
  }
  yield '}'
}

async function* commaSeparated(
  batches: AsyncIterable<readonly RowEntry[]>,
  write: (rows: readonly RowEntry[]) => Promise<readonly string[]>,
): AsyncGenerator<string> {
  let isFirst = true
  for await (const batch of batches) {
    const texts = await write(batch)
    yield (isFirst ? '' : ',') + texts.join(',')
    isFirst = false
  }
}

async function* inBatches(rows: readonly RowEntry[]): AsyncGenerator<readonly RowEntry[]> {
  for (let at = 0; at < rows.length; at += AT_ONCE) yield rows.slice(at, at + AT_ONCE)
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}
