import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { alternate } from '../figures/alternate.ts'
import { amount } from '../figures/amount.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { type ChildServer, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import type { Figure } from '../figures/figure.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { progress } from '../progress.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'
import { median } from '../figures/median.ts'
import { type RowBlobs, sizeOnDisk, takeRowBlobs, timeCatFile, timeFastImport } from '../row-blobs.ts'
import { tableCsv, tableRow } from '../figures/table-rows.ts'
import { addRow, type Page, retrieve, type Testset, uploadFile } from '../testset-calls.ts'
import { download } from '../transfer.ts'
import { writeTextFile } from '../write-text-file.ts'

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
  setting.add(
    plainFigure({
      work: 'the server after the testsets: resident memory',
      rounds: [server.resident() / MB],
      unit: 'MB',
      goal: { is: '≤', value: 512 },
    }),
  )
  await server.stop()
}

interface TestsetBench extends BenchSetting {
  readonly server: ChildServer
  /** The folder of the testsets' repositories. */
  readonly repositories: string
}

async function measureUpload(bench: TestsetBench): Promise<{ large: Testset; blobs: RowBlobs }> {
  const { folder, rows, server, add } = bench
  const file = join(folder, 'rows.csv')
  await writeTextFile(file, tableCsv(rows))
  const growths: number[] = []
  const uploadOnce = async (): Promise<Testset> => {
    const slug = `large-${growths.length}`
    const { answer, before, peak } = await watchResident(server, () => uploadFile(server, slug, file))
    growths.push((peak - before) / MB)
    return answer
  }
  let large = await uploadOnce()
  const blobs = takeRowBlobs(join(bench.repositories, `${large.slug}.git`), join(folder, 'blobs'))
  const uploads = await alternate(`upload of ${rows} rows`, bench, {
    ours: async () => {
      const started = performance.now()
      large = await uploadOnce()
      return rate(rows, performance.now() - started)
    },
    floor: async () => rate(rows, await timeFastImport(blobs.importStream, join(folder, 'imported.git'))),
  })
  const work = `upload of a CSV of ${rows} rows`
  add(
    ratioFigure({
      ...uploads,
      work: `${work}, against git fast-import of the same blobs`,
      as: '×',
      unit: 'rows a second',
      goal: { is: '≥', value: 0.9 },
    }),
  )
  add(growthFigure(work, growths, 256))
  return { large, blobs }
}

async function measureOneMoreRow(bench: TestsetBench, large: Testset, small: Testset): Promise<void> {
  const { rows, server, repositories, add } = bench
  const repository = join(repositories, `${large.slug}.git`)
  let number = bench.mostRows
  const oneMore = (testset: Testset): Promise<number> =>
    timed(() => addRow(server, testset, tableRow(number++)))
  // Before anything else is done: later on packs are rolled up behind the commits.
  const growths: number[] = []
  for (let time = 0; time < 10; time++) {
    const before = sizeOnDisk(repository)
    await oneMore(large)
    growths.push((sizeOnDisk(repository) - before) / 1024)
  }
  const times = await alternate('one more row', bench, {
    ours: () => medianOf(10, () => oneMore(large)),
    floor: () => medianOf(10, () => oneMore(small)),
  })
  add(
    ratioFigure({
      ...times,
      work: `one more row in a testset of ${rows}, against one of 200`,
      as: '×',
      unit: 'ms',
      goal: { is: '≤', value: 2 },
    }),
  )
  add(
    plainFigure({
      work: `one more row in a testset of ${rows}: growth on disk, the most`,
      rounds: growths,
      judged: 'worst',
      unit: 'KB',
      goal: { is: '≤', value: 64 },
    }),
  )
}

async function measureDownload(
  bench: TestsetBench,
  { slug, revisionId }: Testset,
  blobs: RowBlobs,
): Promise<void> {
  const { rows, server, repositories, add } = bench
  const path = `/testsets/revisions/${revisionId}/download?file_type=csv`
  const firstBytes: number[] = []
  const growths: number[] = []
  const downloads = await alternate(`download of ${rows} rows`, bench, {
    ours: async () => {
      const { answer, before, peak } = await watchResident(server, () => download(server, path))
      if (answer.bytes < rows * 100) throw new Error(`only ${answer.bytes} bytes were downloaded`)
      firstBytes.push(answer.firstByte)
      growths.push((peak - before) / MB)
      return rate(rows, answer.whole)
    },
    floor: async () => rate(rows, await timeCatFile(join(repositories, `${slug}.git`), blobs.oids)),
  })
  const work = `download of ${rows} rows as CSV`
  add(
    ratioFigure({
      ...downloads,
      work: `${work}, against git cat-file of the same blobs`,
      as: '×',
      unit: 'rows a second',
      goal: { is: '≥', value: 0.8 },
    }),
  )
  add(
    plainFigure({
      work: `${work}: first byte, the latest`,
      rounds: firstBytes,
      judged: 'worst',
      unit: 'ms',
      goal: { is: '≤', value: 200 },
    }),
  )
  add(growthFigure(work, growths, 64))
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
    plainFigure({
      work: `upload of a CSV of ${mostRows} rows: peak resident memory`,
      rounds: [peak / MB],
      unit: 'MB',
      goal: { is: '≤', value: 1024 },
      note: amount(rate(mostRows, took), 'rows a second'),
    }),
  )
  return answer
}

/** Both pages are asked for again and again, so both are answered from what the server has read before. */
async function measurePage(bench: TestsetBench, most: Testset, small: Testset): Promise<void> {
  const { mostRows, server, add } = bench
  progress(`a page from the middle of ${mostRows} rows`)
  const middle = await retrieve(server, most, { limit: Math.floor(mostRows / 2) }, false)
  const cursor = middle.windowing?.next
  if (cursor === undefined) throw new Error(`no cursor for the middle of ${mostRows} rows was answered`)
  const first = await timed(() => retrievePage(server, most, { limit: PAGE, next: cursor }))
  const pages = await alternate(`a page of ${mostRows} rows`, bench, {
    ours: () => medianOf(20, () => timed(() => retrievePage(server, most, { limit: PAGE, next: cursor }))),
    floor: () => medianOf(20, () => timed(() => retrievePage(server, small, { limit: PAGE }))),
  })
  add(
    ratioFigure({
      ...pages,
      work: `${PAGE} rows from the middle of ${mostRows}, against a testset of ${PAGE}`,
      as: '×',
      unit: 'ms',
      goal: { is: '≤', value: 3 },
      note: `read for the first time in ${amount(first, 'ms')}`,
    }),
  )
}

const PAGE = 100

function growthFigure(work: string, rounds: readonly number[], most: number): Figure {
  return plainFigure({
    work: `${work}: resident memory growth, the most`,
    rounds,
    judged: 'worst',
    unit: 'MB',
    goal: { is: '≤', value: most },
  })
}

async function uploadRows({ folder, server }: TestsetBench, slug: string, count: number): Promise<Testset> {
  const file = join(folder, `${slug}.csv`)
  await writeTextFile(file, tableCsv(count))
  return uploadFile(server, slug, file)
}

async function retrievePage(server: ChildServer, testset: Testset, page: Page): Promise<void> {
  const { testset_revision: revision } = await retrieve(server, testset, page, true)
  const count = revision.data?.testcases?.length
  if (count !== PAGE) throw new Error(`a page of ${PAGE} rows came with ${count}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function medianOf(times: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = []
  while (values.length < times) values.push(await measure())
  return median(values)
}

function rate(rows: number, milliseconds: number): number {
  return (rows / milliseconds) * 1000
}

const MB = 1024 * 1024

/** What a piece of work answered, and the most resident memory, in bytes, that the server had from its start to its end. */
interface Watched<T> {
  readonly answer: T
  readonly before: number
  readonly peak: number
}

/** Looks at the server's resident memory every 50 ms while `work` is done. */
async function watchResident<T>(server: ChildServer, work: () => Promise<T>): Promise<Watched<T>> {
  const before = server.resident()
  let peak = before
  const look = (): void => {
    peak = Math.max(peak, server.resident())
  }
  const timer = setInterval(look, 50)
  try {
    const answer = await work()
    look()
    return { answer, before, peak }
  } finally {
    clearInterval(timer)
  }
}
