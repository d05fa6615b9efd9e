import { setTimeout as pause } from 'node:timers/promises'
import { askServer } from './index-client.ts'
import { WORDS } from './index-history.ts'

/** What a server says of all that an index is for; one text for each question. */
export type IndexAnswers = ReadonlyMap<string, string>

/** A server that answered anything but 200 and a 503 that is over soon, with what it said. */
export class OddAnswer extends Error {
  override readonly name = 'OddAnswer'
}

/** Asks everything. Throws an OddAnswer for what no client may get, and an Error where the server is gone. */
export async function indexAnswers(url: string): Promise<IndexAnswers> {
  const answers = new Map<string, string>()
  for (const [path, body] of QUESTIONS) {
    const rows = rowsOf(await askPatiently(url, path, body))
    // What matches alike comes in the order in which it was taken in.
    answers.set(`${path} ${JSON.stringify(body)}`, (path === '/search' ? rows.sort() : rows).join(' '))
  }
  return answers
}

const REVISIONS = '/workflows/revisions/query'

const QUESTIONS: readonly (readonly [path: string, body: object])[] = [
  ['/workflows/query', {}],
  ['/workflows/query', { include_archived: true }],
  ['/workflows/query', { workflow: { tags: { team: 'support' } } }],
  ['/workflows/variants/query', { include_archived: true }],
  [REVISIONS, {}],
  [REVISIONS, { include_archived: true, windowing: { order: 'ascending' } }],
  [REVISIONS, { workflow_refs: [{ slug: 'bot-1' }, { slug: 'bot-2' }], include_archived: true }],
  [REVISIONS, { workflow_revision: { author: 'Ann <ann@example.com>' } }],
  ...WORDS.flatMap((word): [string, object][] => [
    [REVISIONS, { workflow_revision: { message: word } }],
    ['/search', { query: word, windowing: { limit: 1000 } }],
    ['/search', { query: word, include_history: true, include_archived: true, windowing: { limit: 1000 } }],
  ]),
]

/** So often a question is asked again that is refused for a moment. */
const MOST_TRIES = 20

async function askPatiently(url: string, path: string, body: object): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { status, text } = await askServer(url, 'POST', path, body)
    if (status === 200) return text
    if (status !== 503 || tries === MOST_TRIES) throw new OddAnswer(`${path}: ${status} ${text}`)
    await pause(100)
  }
}

/** The ids of what is listed, each with the version that it has. */
function rowsOf(text: string): string[] {
  // Every answer of ours has one list.
  const [list = []] = Object.values(JSON.parse(text)).filter(Array.isArray) as Listed[][]
  return list.map(({ id, version, revision, artifact }) =>
    artifact ? `${artifact.id}/${revision?.id}` : `${id}/${version ?? ''}`,
  )
}

interface Listed {
  readonly id?: string
  readonly version?: number | string
  readonly revision?: { readonly id: string }
  readonly artifact?: { readonly id: string }
}
