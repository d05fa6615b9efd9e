import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { post } from './call.ts'
import { type ChildServer, startBranchpoint } from './child-server.ts'
import { type BenchSetting, progress } from './figures.ts'
import { median } from './load.ts'
import { type RowBlobs, sizeOnDisk, takeRowBlobs, timeCatFile, timeFastImport } from './row-blobs.ts'
import { tableCsv, tableRow } from './table-rows.ts'
import { download, upload } from './transfer.ts'
import { watchResident } from './watch-resident.ts'
import { writeTextFile } from './write-text-file.ts'

/**
 * Large testsets on one server: upload and download against the git program on the same blobs, one more row, a page from the
 * middle, and the memory that all of it takes.
 */
export async function measureTestsets(setting: BenchSetting): Promise<void> {
  const storeDir = join(setting.folder, 'testsets')
  const server = await startBranchpoint(storeDir)
  const bench: TestsetBench = { ...setting, server, repositories: join(storeDir, 'default', 'testsets') }
  const { large, blobs } = await measureUpload(bench)
  await measureOneMoreRow(bench, large, await uploadRows(bench, 'small', 200))
  await measureDownload(bench, large, blobs)
  const most = await measureLargestUpload(bench)
  await measurePage(bench, most, await uploadRows(bench, 'page', PAGE))
  await wait(5000)
  const settled = server.resident()
  setting.add('the server afterwards: resident memory', megabytes(settled), '< 512 MB', settled < 512 * MB)
  await server.stop()
}

interface TestsetBench extends BenchSetting {
  readonly server: ChildServer
  /** The folder of the testsets' repositories. */
  readonly repositories: string
}

interface Testset {
  readonly id: string
  readonly slug: string
  readonly revisionId: string
}

async function measureUpload(bench: TestsetBench): Promise<{ large: Testset; blobs: RowBlobs }> {
  const { folder, rows, server, add } = bench
  const file = join(folder, 'rows.csv')
  const bytes = await writeTextFile(file, tableCsv(rows))
  const uploads: number[] = []
  const imports: number[] = []
  let growth = 0
  let large: Testset | undefined
  let blobs: RowBlobs | undefined
  for (let round = 1; round <= 3; round++) {
    progress(`upload of ${rows} rows, ${(bytes / rows).toFixed(0)} bytes each: round ${round} of 3`)
    const started = performance.now()
    const watched = await watchResident(server, () => uploadFile(server, `large-${round}`, file))
    uploads.push(performance.now() - started)
    growth = Math.max(growth, watched.peak - watched.before)
    large = watched.answer
    blobs ??= takeRowBlobs(join(bench.repositories, `${large.slug}.git`), join(folder, 'blobs'))
    imports.push(await timeFastImport(blobs.importStream, join(folder, 'imported.git')))
  }
  const [ours, floor] = [rate(rows, median(uploads)), rate(rows, median(imports))]
  add(
    `upload of a CSV of ${rows} rows, against git fast-import of the same blobs`,
    `${(ours / floor).toFixed(2)} × (${ours.toFixed(0)} against ${floor.toFixed(0)} rows a second)`,
    '≥ 0.7 ×',
    ours >= 0.7 * floor,
  )
  add('the same: resident memory growth, the most of 3', megabytes(growth), '≤ 256 MB', growth <= 256 * MB)
  if (!large || !blobs) throw new Error('there was no round')
  return { large, blobs }
}

async function measureOneMoreRow(bench: TestsetBench, large: Testset, small: Testset): Promise<void> {
  const { rounds, rows, server, repositories, add } = bench
  const repository = join(repositories, `${large.slug}.git`)
  const times: { readonly large: number[]; readonly small: number[] } = { large: [], small: [] }
  let growth = 0
  // The first round warms up both, and is the one whose growth counts: later on packs are rolled up behind the commits.
  for (let round = 0; round <= rounds; round++) {
    progress(`one more row: round ${round} of ${rounds}`)
    for (let number = 0; number < 10; number++) {
      const row = tableRow(bench.mostRows + round * 10 + number)
      const before = round === 0 ? sizeOnDisk(repository) : 0
      const toLarge = await timed(() => addRow(server, large, row))
      if (round === 0) growth = Math.max(growth, sizeOnDisk(repository) - before)
      const toSmall = await timed(() => addRow(server, small, row))
      if (round === 0) continue
      times.large.push(toLarge)
      times.small.push(toSmall)
    }
  }
  const [ours, floor] = [median(times.large), median(times.small)]
  add(
    `one more row in a testset of ${rows}, against one of 200`,
    `${(ours / floor).toFixed(2)} × (${ours.toFixed(2)} ms against ${floor.toFixed(2)} ms)`,
    '≤ 2 ×',
    ours <= 2 * floor,
  )
  add(
    'the same: growth on disk, the most',
    `${(growth / 1024).toFixed(1)} KB`,
    '≤ 64 KB',
    growth <= 64 * 1024,
  )
}

async function measureDownload(
  bench: TestsetBench,
  { slug, revisionId }: Testset,
  blobs: RowBlobs,
): Promise<void> {
  const { rows, server, repositories, add } = bench
  const downloads: number[] = []
  const prints: number[] = []
  const firstBytes: number[] = []
  let growth = 0
  for (let round = 1; round <= 3; round++) {
    progress(`download of ${rows} rows: round ${round} of 3`)
    const path = `/testsets/revisions/${revisionId}/download?file_type=csv`
    const { answer, before, peak } = await watchResident(server, () => download(server, path))
    if (answer.bytes < rows * 100) throw new Error(`only ${answer.bytes} bytes were downloaded`)
    downloads.push(answer.whole)
    firstBytes.push(answer.firstByte)
    growth = Math.max(growth, peak - before)
    prints.push(await timeCatFile(join(repositories, `${slug}.git`), blobs.oids))
  }
  const [ours, floor] = [rate(rows, median(downloads)), rate(rows, median(prints))]
  add(
    `download of ${rows} rows as CSV, against git cat-file of the same blobs`,
    `${(ours / floor).toFixed(2)} × (${ours.toFixed(0)} against ${floor.toFixed(0)} rows a second)`,
    '≥ 0.5 ×',
    ours >= 0.5 * floor,
  )
  const first = Math.max(...firstBytes)
  add('the same: first byte, the latest of 3', `${first.toFixed(0)} ms`, '≤ 200 ms', first <= 200)
  add('the same: resident memory growth, the most of 3', megabytes(growth), '≤ 64 MB', growth <= 64 * MB)
}

async function measureLargestUpload(bench: TestsetBench): Promise<Testset> {
  const { folder, mostRows, server, add } = bench
  const file = join(folder, 'most-rows.csv')
  await writeTextFile(file, tableCsv(mostRows))
  progress(`upload of ${mostRows} rows`)
  const started = performance.now()
  const { answer, peak } = await watchResident(server, () => uploadFile(server, 'most', file))
  const took = performance.now() - started
  add(
    `upload of a CSV of ${mostRows} rows: peak resident memory`,
    `${megabytes(peak)} (${rate(mostRows, took).toFixed(0)} rows a second)`,
    '≤ 1024 MB',
    peak <= 1024 * MB,
  )
  return answer
}

/** Both pages are asked for again and again, so both are answered from what the server has read before. */
async function measurePage(bench: TestsetBench, most: Testset, small: Testset): Promise<void> {
  const { mostRows, rounds, server, add } = bench
  progress(`a page from the middle of ${mostRows} rows`)
  const middle = await retrieve(server, most, { limit: Math.floor(mostRows / 2) }, false)
  const cursor = middle.windowing?.next
  if (cursor === undefined) throw new Error(`no cursor for the middle of ${mostRows} rows was answered`)
  const first = await timed(() => retrievePage(server, most, { limit: PAGE, next: cursor }))
  const times: { readonly most: number[]; readonly small: number[] } = { most: [], small: [] }
  for (let round = 0; round <= rounds; round++) {
    for (let number = 0; number < 20; number++) {
      const ofMost = await timed(() => retrievePage(server, most, { limit: PAGE, next: cursor }))
      const ofSmall = await timed(() => retrievePage(server, small, { limit: PAGE }))
      if (round === 0) continue
      times.most.push(ofMost)
      times.small.push(ofSmall)
    }
  }
  const [ours, floor] = [median(times.most), median(times.small)]
  add(
    `${PAGE} rows from the middle of ${mostRows}, against a testset of ${PAGE}`,
    `${(ours / floor).toFixed(2)} × (${ours.toFixed(2)} ms against ${floor.toFixed(2)} ms; read for the first time ${first.toFixed(1)} ms)`,
    '≤ 3 ×',
    ours <= 3 * floor,
  )
}

const PAGE = 100

async function uploadRows({ folder, server }: TestsetBench, slug: string, count: number): Promise<Testset> {
  const file = join(folder, `${slug}.csv`)
  await writeTextFile(file, tableCsv(count))
  return uploadFile(server, slug, file)
}

async function uploadFile(server: ChildServer, slug: string, file: string): Promise<Testset> {
  const path = '/simple/testsets/upload?include_testcases=false&include_testcase_ids=false'
  const answer = await upload(server, path, file, { testset_slug: slug })
  const { testset } = uploaded.parse(JSON.parse(answer))
  return { id: testset.id, slug, revisionId: testset.revision_id }
}

const uploaded = z.object({ testset: z.object({ id: z.string(), revision_id: z.string() }) })

/** A delta onto the latest of the testset. */
function addRow(server: ChildServer, { id }: Testset, row: object): Promise<unknown> {
  const commit = { testset_id: id, delta: { rows: { add: [{ data: row }] } } }
  const body = { testset_revision_commit: commit, include_testcases: false, include_testcase_ids: false }
  return post(server, '/testsets/revisions/commit', body, z.object({ testset_revision: z.object({}) }))
}

interface Page {
  readonly limit: number
  readonly next?: string
}

async function retrievePage(server: ChildServer, testset: Testset, page: Page): Promise<void> {
  const { testset_revision: revision } = await retrieve(server, testset, page, true)
  const count = revision.data?.testcases?.length
  if (count !== PAGE) throw new Error(`a page of ${PAGE} rows came with ${count}`)
}

function retrieve(
  server: ChildServer,
  { revisionId }: Testset,
  windowing: Page,
  withRows: boolean,
): Promise<z.infer<typeof retrieved>> {
  const body = {
    testset_revision_ref: { id: revisionId },
    include_testcases: withRows,
    include_testcase_ids: withRows,
    windowing,
  }
  return post(server, '/testsets/revisions/retrieve', body, retrieved)
}

const retrieved = z.object({
  testset_revision: z.object({
    data: z.object({ testcases: z.array(z.unknown()).optional() }).optional(),
  }),
  windowing: z.object({ next: z.string().optional() }).optional(),
})

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function rate(rows: number, milliseconds: number): number {
  return (rows / milliseconds) * 1000
}

const MB = 1024 * 1024

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`
}
