import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { z } from 'zod'
import { clutterOf } from '../../src/git/clutter.ts'
import { nodeFs } from '../../src/git/node-fs.ts'
import { keepUp } from '../../src/git/upkeep.ts'
import { post, postText } from './call.ts'
import { type ChildServer, KEY, startBranchpoint } from './child-server.ts'
import { type BenchSetting, progress } from './figures.ts'
import { promptData } from './fill-store.ts'
import { median } from './load.ts'

/** Revisions of the prompt whose size is measured. */
const REVISIONS = 1000
/** Clients that read, and for how many seconds a round. */
const CLIENTS = 8
const SECONDS = 4

/**
 * What upkeep saves and what it costs: a history of 1,000 prompt revisions against `git gc --aggressive`, a small artifact, and
 * how long reads wait (99 of 100) while repositories are repacked beside them.
 */
export async function measureUpkeep({ folder, rounds, add }: BenchSetting): Promise<void> {
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

  const calm: number[] = []
  const busy: number[] = []
  for (let round = 0; round < rounds; round++) {
    progress(`reads, ${round + 1} of ${rounds}`)
    const writing = onAndOn(() => commitOne(service, bot, round))
    calm.push(await latency(service))
    const repacking = onAndOn(async () => void (await keepUp(nodeFs, repository('bot'), { anyway: true })))
    busy.push(await latency(service))
    await Promise.all([repacking.stop(), writing.stop()])
  }
  const [without, during] = [median(calm), median(busy)]
  const ratio = during / without
  add(
    `reads of ${CLIENTS} clients, p99, while what they read is written to and repacked again and again, against without repacks`,
    `${ratio.toFixed(2)} × (${during} ms against ${without} ms)`,
    '≤ 3 ×',
    ratio <= 3,
  )

  const tidy = join(folder, 'default', 'workflows', 'tidy.git')
  cpSync(untidy, tidy, { recursive: true })
  await keepUp(nodeFs, tidy, { anyway: true })
  await keepUp(nodeFs, repository('small'), { anyway: true })
  await service.stop()
  const aggressive = join(folder, 'aggressive.git')
  cpSync(untidy, aggressive, { recursive: true })
  spawnSync('git', [`--git-dir=${aggressive}`, 'gc', '--aggressive', '--prune=now', '--quiet'])
  const [ours, floor] = [kilobytes(tidy), kilobytes(aggressive)]
  add(
    `${REVISIONS} prompt revisions after upkeep, against git gc --aggressive`,
    `${(ours / floor).toFixed(2)} × (${ours} KB against ${floor} KB; ${kilobytes(untidy)} KB before, in ${clutterOf(nodeFs, untidy).packs} packs)`,
    '≤ 2 ×',
    ours <= 2 * floor,
  )
  const small = kilobytes(repository('small'))
  add('an artifact of 5 revisions after upkeep', `${small} KB`, '≤ 56 KB', small <= 56)
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
async function latency({ url }: ChildServer): Promise<number> {
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
    duration: SECONDS,
  })
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx} reads were refused`)
  return result.latency.p99
}

/** Does it again and again, with a little rest, until it is stopped. */
function onAndOn(work: () => Promise<void>): { stop(): Promise<void> } {
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      await work()
      await pause(REST)
    }
  })()
  return {
    stop: () => {
      isOver = true
      return running
    },
  }
}

/** Milliseconds. */
const REST = 20

function kilobytes(folder: string): number {
  return Number(spawnSync('du', ['-sk', folder], { encoding: 'utf8' }).stdout.split('\t')[0])
}
