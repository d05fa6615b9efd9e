import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { post, postText } from '../call.ts'
import { type ChildServer, KEY } from '../../../test/support/servers/child-server.ts'
import { tableCsv } from '../figures/table-rows.ts'
import { type Testset, uploadFile } from '../testset-calls.ts'
import { download } from '../transfer.ts'
import { writeTextFile } from '../write-text-file.ts'
import { feltPrompt } from './felt-load.ts'

/** What others ask the server for: each is done again and again beside the load, all at once. */
export type Neighbours = Readonly<Record<string, () => Promise<unknown>>>

/** Sizes of what the neighbours ask for. */
export interface FeltSizes {
  readonly uploadedRows: number
  readonly readRows: number
  /** Bytes of the text of the prompt whose variants are merged, and of each of those that are searched, about. */
  readonly textBytes: number
  /** Prompts that hold the word that is searched. */
  readonly searched: number
  /** Revisions of the prompt whose log is read. */
  readonly revisions: number
}

const run = promisify(execFile)

/** Rows go up and down: an upload, a clone and a download as CSV. */
export async function rowNeighbours(
  server: ChildServer,
  folder: string,
  { uploadedRows, readRows }: FeltSizes,
): Promise<Neighbours> {
  const large = join(folder, 'uploaded.csv')
  await writeTextFile(large, tableCsv(uploadedRows))
  const small = join(folder, 'read.csv')
  await writeTextFile(small, tableCsv(readRows))
  const testset: Testset = await uploadFile(server, 'felt-rows', small)
  const { protocol, host } = new URL(server.url)
  const address = `${protocol}//key:${KEY}@${host}/git/testsets/felt-rows.git`
  let [uploads, clones] = [0, 0]
  return {
    upload: () => uploadFile(server, `felt-upload-${uploads++}`, large),
    clone: async () => {
      const clone = join(folder, `clone-${clones++}`)
      await run('git', ['clone', '--quiet', '--bare', address, clone])
      rmSync(clone, { recursive: true })
    },
    download: () => download(server, `/testsets/revisions/${testset.revisionId}/download?file_type=csv`),
  }
}

/** Work on texts: a merge and a comparison of two variants, a search, and a log with data. */
export async function textNeighbours(
  server: ChildServer,
  { textBytes, searched, revisions }: FeltSizes,
): Promise<Neighbours> {
  const lines = Math.ceil(textBytes / LINE_BYTES)
  await create(
    server,
    'felt-long',
    textPrompt(lines, () => ''),
  )
  const fork = {
    application_variant_ref: { slug: 'felt-long' },
    application_variant: { slug: 'felt-long-other' },
  }
  await postText(server, '/applications/variants/fork', JSON.stringify(fork))
  // Each side rewrites words of one line in twenty; every third of these lines, both do.
  await commit(
    server,
    'felt-long-other',
    textPrompt(lines, (line) => (line % 20 === 0 ? 'there' : '')),
  )
  await commit(
    server,
    'felt-long',
    textPrompt(lines, (line) => (line % 20 === (line % 3 === 0 ? 0 : 10) ? 'here' : '')),
  )
  for (let number = 0; number < searched; number++) {
    const data = textPrompt(lines, (line) => (line % 50 === number ? SEARCHED_WORD : ''))
    await create(server, `felt-searched-${number}`, data)
  }
  await create(server, 'felt-history', feltPrompt(0))
  for (let number = 1; number < revisions; number++) await commit(server, 'felt-history', feltPrompt(number))
  const variant = (slug: string) => ({ variant: { slug } })
  const asked = (path: string, body: object) => () => postText(server, path, JSON.stringify(body))
  return {
    merge: asked('/applications/variants/merge', {
      source: variant('felt-long-other'),
      target: variant('felt-long'),
      dry_run: true,
    }),
    compare: asked('/applications/variants/compare', {
      base: variant('felt-long'),
      head: variant('felt-long-other'),
    }),
    search: asked('/search', { query: SEARCHED_WORD }),
    log: asked('/applications/revisions/log', {
      application_ref: { slug: 'felt-history' },
      include_data: true,
      windowing: { limit: revisions },
    }),
  }
}

const SEARCHED_WORD = 'escalation'
const LINE_BYTES = 64

/** A prompt of so many lines; `word` says what is put into each of them. */
function textPrompt(lines: number, word: (line: number) => string): object {
  const text = Array.from({ length: lines }, (_, line) =>
    `Rule ${line}: answer within ${(line * 7) % 60} minutes ${word(line)}`.padEnd(LINE_BYTES - 1, '.'),
  ).join('\n')
  const prompt = { messages: [{ role: 'system', content: text }], llm_config: { model: 'mock/examples' } }
  return { uri: 'svc:builtin:completion:v0', parameters: { prompt } }
}

/** Makes a prompt whose variant has the same slug. */
export function create(server: ChildServer, slug: string, data: object): Promise<unknown> {
  return post(server, '/simple/applications', { application: { slug, data } }, z.unknown())
}

function commit(server: ChildServer, slug: string, data: object): Promise<unknown> {
  const body = { application_variant_ref: { slug }, message: 'Next', data }
  return post(
    server,
    '/applications/revisions/commit',
    { application_revision_commit: body },
    z.object({ application_revision: z.object({ version: z.number() }) }),
  )
}
