import { join } from 'node:path'
import { z } from 'zod'
import type { BenchSetting } from '../bench-setting.ts'
import { KEY, startBranchpoint, type ChildServer } from '../../../test/support/servers/child-server.ts'
import { post } from '../call.ts'
import { median } from '../figures/median.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'
import { tableCsv, tableRow } from '../figures/table-rows.ts'
import { uploadFile } from '../testset-calls.ts'
import { writeTextFile } from '../write-text-file.ts'

/** Prompts of a cold server, and commits of a round. */
const PROMPTS = 200
/** Revisions and lines of the prompt that is blamed. */
const REVISIONS = 1000
const LINES = 500
/** Rows that each side of a merge adds. */
const ADDED = 100

/** Prompts whose texts are files, beside the same bytes that stay in data.json; blame; a merge of a long testset. */
export async function measureTexts({ folder, rounds, rows, add }: BenchSetting): Promise<void> {
  await measureFiles(join(folder, 'texts'), rounds, add)
  await measureBlame(join(folder, 'blame'), rounds, add)
  await measureMerge(join(folder, 'merge'), rounds, rows, add)
}

/** What messages say is a file; a `name` never is. */
type Kind = 'content' | 'name'

async function measureFiles(storeDir: string, rounds: number, add: BenchSetting['add']): Promise<void> {
  const filling = await startBranchpoint(storeDir)
  for (const kind of ['content', 'name'] as const)
    for (let number = 0; number < PROMPTS; number++)
      await create(filling, `${kind}-${number}`, promptOf(kind, number))
  await filling.stop()
  const cold: Record<Kind, number[]> = { content: [], name: [] }
  const commits: Record<Kind, number[]> = { content: [], name: [] }
  for (let round = 0; round < rounds; round++) {
    const server = await startBranchpoint(storeDir)
    // It warms the way through the code; each of the others is as cold as it was.
    for (const kind of ['content', 'name'] as const) await retrieve(server, `${kind}-0`)
    for (const kind of ['content', 'name'] as const) cold[kind].push(await coldRetrieve(server, kind))
    for (const kind of ['content', 'name'] as const) commits[kind].push(await commit(server, kind, round))
    await server.stop()
  }
  const goal = { is: '≤', value: 1.3 } as const
  const beside = { as: '×', unit: 'ms', goal } as const
  add(
    ratioFigure({
      work: 'a first retrieve of a prompt of five messages in files, against the same bytes in data.json',
      ...{ ...beside, ours: cold.content, floor: cold.name },
    }),
  )
  add(
    ratioFigure({
      work: 'a commit of one message of five in files, against the same bytes in data.json',
      ...{ ...beside, ours: commits.content, floor: commits.name },
    }),
  )
}

async function coldRetrieve(server: ChildServer, kind: Kind): Promise<number> {
  const took: number[] = []
  for (let number = 1; number < PROMPTS; number++) {
    const began = performance.now()
    await retrieve(server, `${kind}-${number}`)
    took.push(performance.now() - began)
  }
  return median(took)
}

async function commit(server: ChildServer, kind: Kind, round: number): Promise<number> {
  const took: number[] = []
  for (let number = 0; number < PROMPTS; number++) {
    const data = promptOf(kind, PROMPTS * (round + 1) + number)
    const began = performance.now()
    await commitTo(server, `${kind}-0`, data)
    took.push(performance.now() - began)
  }
  return median(took)
}

async function measureBlame(storeDir: string, rounds: number, add: BenchSetting['add']): Promise<void> {
  const server = await startBranchpoint(storeDir)
  const lines = Array.from({ length: LINES }, (_, at) => `Line ${at} of what it shall do, and how.`)
  const data = () => ({
    parameters: { prompt: { messages: [{ role: 'system', content: lines.join('\n') }] } },
  })
  await create(server, 'long', data())
  for (let number = 1; number < REVISIONS; number++) {
    lines[number % LINES] = `Line ${number % LINES} as revision ${number} has it.`
    await commitTo(server, 'long', data())
  }
  const { application_revision } = await retrieve(server, 'long')
  const path = `/applications/revisions/${application_revision.id}/blame?place=/parameters/prompt/messages/0/content`
  const took: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now()
    const answer = await fetch(server.url + path, { headers: { authorization: `ApiKey ${KEY}` } })
    z.object({ count: z.literal(LINES) }).parse(await answer.json())
    if (round > 0) took.push(performance.now() - began)
  }
  await server.stop()
  const work = `blame of a prompt of ${LINES} lines over ${REVISIONS} revisions`
  add(plainFigure({ work, rounds: took, unit: 'ms', goal: { is: '≤', value: 300 } }))
}

async function measureMerge(
  storeDir: string,
  rounds: number,
  rows: number,
  add: BenchSetting['add'],
): Promise<void> {
  const file = `${storeDir}.csv`
  await writeTextFile(file, tableCsv(rows))
  const server = await startBranchpoint(storeDir)
  await uploadFile(server, 'rows', file)
  const took: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const fork = `fork-${round}`
    const source = { testset_variant_ref: { slug: 'rows' } }
    await post(server, '/testsets/variants/fork', { testset_variant: { slug: fork }, ...source }, z.unknown())
    for (const [side, slug] of ['rows', fork].entries()) {
      const first = rows + ADDED * (2 * round + side)
      const added = Array.from({ length: ADDED }, (_, at) => ({ data: tableRow(first + at) }))
      const commit = { testset_variant_ref: { slug }, delta: { rows: { add: added } } }
      const body = { testset_revision_commit: commit, include_testcases: false, include_testcase_ids: false }
      await post(server, '/testsets/revisions/commit', body, z.unknown())
    }
    const sides = { source: { variant: { slug: fork } }, target: { variant: { slug: 'rows' } } }
    const body = { ...sides, include_testcases: false, include_testcase_ids: false }
    const began = performance.now()
    await post(server, '/testsets/variants/merge', body, z.unknown())
    if (round > 0) took.push(performance.now() - began)
  }
  await server.stop()
  const work = `a merge of two variants of a testset of ${rows} rows, ${ADDED} added on each side`
  add(plainFigure({ work, rounds: took, unit: 'ms', goal: { is: '≤', value: 300 } }))
}

async function create(server: ChildServer, slug: string, data: object): Promise<void> {
  await post(server, '/simple/applications', { application: { slug, data } }, z.unknown())
}

async function commitTo(server: ChildServer, slug: string, data: object): Promise<void> {
  const body = { application_revision_commit: { application_variant_ref: { slug }, message: 'Edit', data } }
  await post(server, '/applications/revisions/commit', body, z.unknown())
}

function retrieve(server: ChildServer, slug: string): Promise<z.infer<typeof latest>> {
  return post(server, '/applications/revisions/retrieve', { application_variant_ref: { slug } }, latest)
}

const latest = z.object({ application_revision: z.object({ id: z.string() }) })

/** Five messages, of which one tells the number. */
function promptOf(kind: Kind, number: number): object {
  const said = [
    `You are assistant ${number} of a shop.\nYou answer tickets.\nBe kind, and brief.`,
    'Where is my order?',
    'It left our house on Monday, and comes within three days.',
    'Can I send it back?',
    'You can, within thirty days.\nThe slip is in the parcel.',
  ]
  return { parameters: { prompt: { messages: said.map((text) => ({ role: 'user', [kind]: text })) } } }
}
