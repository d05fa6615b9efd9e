import { readdirSync, statSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { alternate } from '../figures/alternate.ts'
import { amount } from '../figures/amount.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post, postText } from '../call.ts'
import { type ChildServer, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { startFloor } from '../bench-servers.ts'
import { promptData } from '../fill-store.ts'
import { type Load, requestsPerSecond } from '../load.ts'
import { median } from '../figures/median.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'

/** Clients that commit at once, each to an artifact of its own; and those that commit to one variant. */
const CLIENTS = 64
const CROWD = 50
/** Clients that make artifacts at once. */
const MAKERS = 16

/**
 * Durable commits: of one client against append and sync; of 64 to 64 artifacts against a sync that appends share, and against
 * as many files as a commit makes; of 50 to one variant against the 64. And artifacts made by 16. What is refused ends the bench.
 */
export async function measureCommits({ folder, rounds, seconds, add }: BenchSetting): Promise<void> {
  const storeDir = join(folder, 'commits')
  const service = await startBranchpoint(storeDir)
  const one = await create(service, 'one')
  const crowded = await create(service, 'crowded')
  const slugs = Array.from({ length: CLIENTS }, (_, number) => `many-${number}`)
  const many: string[] = []
  for (const slug of slugs) many.push(await create(service, slug))
  const repositories = slugs.map((slug) => join(storeDir, 'default', 'workflows', `${slug}.git`))
  const files = await filesOfCommit(service, repositories, many)
  const filesIn = join(folder, 'files')
  mkdirSync(filesIn)
  const floor = await startFloor({
    APPEND_TO: join(folder, 'append.log'),
    FILES_IN: filesIn,
    FILES: String(files),
  })
  const load = (url: string, body: Load['body'], clients: number) => (seconds: number) =>
    requestsPerSecond({ url, body, clients, seconds })
  const commits = `${service.url}${COMMIT}`

  const alone = await alternate(
    'durable commit, 1 client',
    { rounds, seconds },
    {
      floor: load(`${floor.url}/append`, one, 1),
      ours: load(commits, one, 1),
    },
  )
  add(
    ratioFigure({
      work: 'durable commit, 1 client, against append and sync',
      as: '×',
      ours: alone.ours.map(milliseconds),
      floor: alone.floor.map(milliseconds),
      unit: 'ms',
      goal: { is: '≤', value: 3.5 },
    }),
  )

  const together = await alternate(
    `durable commit, ${CLIENTS} clients`,
    { rounds, seconds },
    {
      appends: load(`${floor.url}/append-together`, many, CLIENTS),
      files: load(`${floor.url}/files`, many, CLIENTS),
      many: load(commits, many, CLIENTS),
      crowded: load(commits, crowded, CROWD),
    },
  )
  const row = `durable commit, ${CLIENTS} clients over ${CLIENTS} artifacts`
  const rates = { as: '%', unit: 'a second' } as const
  add(
    ratioFigure({
      ...rates,
      work: `${row}, against append and a sync that all who wait share`,
      ours: together.many,
      floor: together.appends,
      goal: { is: '≥', value: 12 },
      note: `bare Koa making as many files: ${amount((100 * median(together.files)) / median(together.appends), '%')}`,
    }),
  )
  add(
    ratioFigure({
      ...rates,
      work: `${row}, against creating, syncing and renaming as many files`,
      ours: together.many,
      floor: together.files,
      goal: { is: '≥', value: 80 },
      note: `${files} a commit`,
    }),
  )
  add(
    ratioFigure({
      ...rates,
      work: `durable commit, ${CROWD} clients on one variant, none refused, against ${CLIENTS} over ${CLIENTS} artifacts`,
      ours: together.crowded,
      floor: together.many,
      goal: { is: '≥', value: 60 },
    }),
  )

  const artifacts = JSON.stringify({ application: { data: promptData(1) } })
  const made = await alternate(
    `making artifacts, ${MAKERS} clients`,
    { rounds, seconds },
    {
      appends: load(`${floor.url}/append`, artifacts, MAKERS),
      ours: load(`${service.url}/simple/applications`, artifacts, MAKERS),
    },
  )
  add(
    ratioFigure({
      ...rates,
      work: `an artifact with its first revision, ${MAKERS} clients, against an append and a sync each`,
      ours: made.ours,
      floor: made.appends,
      goal: { is: '≥', value: 20 },
    }),
  )
  await Promise.all([service.stop(), floor.stop()])
}

const COMMIT = '/applications/revisions/commit'

/** Creates an application and answers the body of a commit to it. */
async function create(service: ChildServer, slug: string): Promise<string> {
  const body = { application: { slug, data: promptData(1) } }
  const { application } = await post(service, '/simple/applications', body, created)
  return JSON.stringify({
    application_revision_commit: {
      application_variant_id: application.variant_id,
      message: 'Next',
      data: promptData(2),
    },
  })
}

const created = z.object({ application: z.object({ variant_id: z.string() }) })

/** How many files a commit makes in its repository while others commit to theirs. */
async function filesOfCommit(
  service: ChildServer,
  repositories: readonly string[],
  bodies: readonly string[],
): Promise<number> {
  const commitAll = (): Promise<unknown> => Promise.all(bodies.map((body) => postText(service, COMMIT, body)))
  // What is made once a repository is none of the next one's.
  await commitAll()
  // The one in the middle: in a few, packs may have been rolled up meanwhile.
  return median(await filesMade(repositories, commitAll))
}

/** How long one client waits for each of so many answers a second. */
function milliseconds(aSecond: number): number {
  return 1000 / aSecond
}

/** How many files that a piece of work made are in each of some folders, however deep; one that only changed its name is none. */
async function filesMade(folders: readonly string[], work: () => Promise<unknown>): Promise<number[]> {
  const before = folders.map(filesIn)
  await work()
  return folders.map(
    (folder, index) => [...filesIn(folder)].filter((file) => !before[index]?.has(file)).length,
  )
}

/** What a file is whatever its name: numbers of files that are gone are given away again, so the time of its birth as well. */
function filesIn(folder: string): Set<string> {
  const found = new Set<string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const stats = statSync(join(entry.parentPath, entry.name), { bigint: true, throwIfNoEntry: false })
    if (stats) found.add(`${stats.ino} ${stats.birthtimeNs}`)
  }
  return found
}
