import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { z } from 'zod'
import { countObjects, maintain } from '../../../src/git/maintenance/maintain.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { alternate } from '../figures/alternate.ts'
import type { BenchSetting } from '../bench-setting.ts'
import { post, postText } from '../call.ts'
import { type ChildServer, KEY, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { promptData } from '../fill-store.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { progress } from '../progress.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'

/** Revisions of the prompt whose size is measured. */
const REVISIONS = 1000
/** Clients that read. */
const CLIENTS = 8

/**
 * What upkeep saves and what it costs: a history of 1,000 prompt revisions against `git gc --aggressive`, a small artifact, and
 * how long reads wait (99 of 100) while repositories are repacked beside them.
 */
export async function measureUpkeep({ folder, rounds, seconds, add }: BenchSetting): Promise<void> {
  const storeDir = join(folder, 'upkeep')
  const repository = (slug: string): string => join(storeDir, 'default', 'workflows', `${slug}.git`)
  const grower = await startBranchpoint(storeDir, { UPKEEP: 'off' })
  await grow(grower, 'small', 5)
  const bot = await grow(grower, 'bot', REVISIONS)
  // A server that runs may roll packs into one while they are copied.
  await grower.stop()
  const untidy = join(folder, 'untidy.git')
  cpSync(repository('bot'), untidy, { recursive: true })
  const service = await startBranchpoint(storeDir, { UPKEEP: 'off' })

  let number = REVISIONS
  const whileWritten = (work: () => Promise<number>): Promise<number> =>
    meanwhile(() => commitOne(service, bot, ++number), work)
  const repack = async (): Promise<void> => void (await maintain(nodeFs, repository('bot'), { anyway: true }))
  const reads = await alternate(
    'reads beside writes',
    { rounds, seconds },
    {
      floor: (seconds) => whileWritten(() => latency(service, seconds)),
      ours: (seconds) => whileWritten(() => meanwhile(repack, () => latency(service, seconds))),
    },
  )
  add(
    ratioFigure({
      ...reads,
      work: `reads of ${CLIENTS} clients, p99, while what they read is written to and repacked again and again, against without repacks`,
      as: '×',
      unit: 'ms',
      goal: { is: '≤', value: 3 },
    }),
  )

  const tidy = join(folder, 'default', 'workflows', 'tidy.git')
  cpSync(untidy, tidy, { recursive: true })
  await maintain(nodeFs, tidy, { anyway: true })
  await maintain(nodeFs, repository('small'), { anyway: true })
  await service.stop()
  const aggressive = join(folder, 'aggressive.git')
  cpSync(untidy, aggressive, { recursive: true })
  spawnSync('git', [`--git-dir=${aggressive}`, 'gc', '--aggressive', '--prune=now', '--quiet'])
  add(
    ratioFigure({
      work: `${REVISIONS} prompt revisions after upkeep, against git gc --aggressive`,
      as: '×',
      ours: [kilobytes(tidy)],
      floor: [kilobytes(aggressive)],
      unit: 'KB',
      goal: { is: '≤', value: 2 },
      note: `${kilobytes(untidy)} KB before, in ${countObjects(nodeFs, untidy).packs} packs`,
    }),
  )
  add(
    plainFigure({
      work: 'an artifact of 5 revisions after upkeep',
      rounds: [kilobytes(repository('small'))],
      unit: 'KB',
      goal: { is: '≤', value: 56 },
    }),
  )
}

/** Answers the id of the variant. */
async function grow(service: ChildServer, slug: string, revisions: number): Promise<string> {
  const create = { application: { slug, data: promptData(1) } }
  const { application } = await post(service, '/simple/applications', create, created)
  for (let number = 2; number <= revisions; number++) {
    if (number % 100 === 0) progress(`${slug}: ${number} of ${revisions} revisions`)
    await commitOne(service, application.variant_id, number)
  }
  return application.variant_id
}

async function commitOne(service: ChildServer, variantId: string, number: number): Promise<void> {
  const commit = { application_variant_id: variantId, message: `${number}`, data: promptData(number) }
  const body = JSON.stringify({ application_revision_commit: commit })
  await postText(service, '/applications/revisions/commit', body)
}

const created = z.object({ application: z.object({ variant_id: z.string() }) })

/** The p99 of retrieves by slug and version, in milliseconds. */
async function latency({ url }: ChildServer, seconds: number): Promise<number> {
  const requests = Array.from({ length: 50 }, (_, index) => ({
    method: 'POST' as const,
    path: '/applications/revisions/retrieve',
    body: JSON.stringify({ application_revision_ref: { slug: 'bot', version: 1 + index * 20 } }),
  }))
  const result = await autocannon({
    url,
    requests,
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
    connections: CLIENTS,
    duration: seconds,
  })
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx} reads were refused`)
  return result.latency.p99
}

/** Does a piece of work while another is done again and again, with a little rest. */
async function meanwhile<T>(again: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      await again()
      await pause(REST)
    }
  })()
  try {
    return await work()
  } finally {
    isOver = true
    await running
  }
}

/** Milliseconds. */
const REST = 20

function kilobytes(folder: string): number {
  return Number(spawnSync('du', ['-sk', folder], { encoding: 'utf8' }).stdout.split('\t')[0])
}
