import { expect } from 'chai'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ChildServer } from '../../support/servers/child-server.ts'
import { endServers, KEY, startBranchpoint } from '../../support/servers/child-server.ts'
import { Asker } from '../../support/servers/ask.ts'
import { temporaryFolder } from '../../support/git/git-program.ts'

/** So often all of the index is removed, with so many answers between. */
const REMOVALS = 60
const ANSWERS_BETWEEN = 15
const WRITERS = 3

describe('versioning: rm index.db* under a server that is at work', () => {
  let storeDir: string
  let server: ChildServer
  const asker = new Asker()
  const problems: string[] = []
  /** Revisions that were acknowledged, by artifact, and artifacts that have the tag. */
  const acknowledged = new Map<string, string[]>()
  const tagged: string[] = []
  let answered = 0

  before(async () => {
    storeDir = temporaryFolder()
    server = await startBranchpoint(storeDir)
  })
  after(() => endServers())

  /** The body of a 200; undefined where the server says that it cannot now. */
  const ask = async (path: string, body: object) => {
    const headers = { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' }
    const answer = await asker.ask('POST', server.url + path, headers, JSON.stringify(body))
    answered++
    if (answer.status === 200) return JSON.parse(answer.text)
    if (answer.status !== 503) problems.push(`${path}: ${answer.status} ${answer.text}`)
    return undefined
  }
  const create = async (slug: string): Promise<void> => {
    const application = { slug, tags: { kind: 'load' }, data: { parameters: { slug } } }
    const body = await ask('/simple/applications/', { application })
    if (!body) return
    acknowledged.set(slug, [body.application.revision_id])
    tagged.push(slug)
  }
  const commit = async (slug: string, number: number): Promise<void> => {
    const sent = {
      application_ref: { slug },
      message: `${wordOf(number)} of ${slug}`,
      data: { parameters: { number } },
    }
    const body = await ask('/applications/revisions/commit', { application_revision_commit: sent })
    if (body) acknowledged.get(slug)?.push(body.application_revision.id)
  }
  const listed = async (slug: string): Promise<string[] | undefined> => {
    const body = await ask('/applications/revisions/query', { application_refs: [{ slug }] })
    return body?.application_revisions.map(({ id }: { id: string }) => id)
  }
  const withTag = async (): Promise<string[] | undefined> => {
    const body = await ask('/applications/query', { application: { tags: { kind: 'load' } } })
    return body?.applications.map(({ slug }: { slug: string }) => slug)
  }
  const found = async (word: string): Promise<string[] | undefined> => {
    const body = await ask('/search', { query: word, include_history: true, windowing: { limit: 1000 } })
    return body?.hits.map(({ revision }: { revision: { slug: string } }) => revision.slug)
  }
  const missing = (known: readonly string[], answer: readonly string[] | undefined): string[] =>
    answer ? known.filter((id) => !answer.includes(id)) : []

  it('refuses nothing but for a moment, lists all that it acknowledged, and finds all of it afterwards', async () => {
    let isOver = false
    const again = async (work: (number: number) => Promise<void>): Promise<void> => {
      for (let number = 2; !isOver; number++) await work(number)
    }
    const slugs = Array.from({ length: WRITERS }, (_, index) => `bot-${index}`)
    for (const slug of slugs) await create(slug)
    const readRevisions = (slug: string) => async (): Promise<void> => {
      const known = [...(acknowledged.get(slug) ?? [])]
      const lost = missing(known, await listed(slug))
      if (lost.length > 0) problems.push(`${lost.length} of ${known.length} revisions of ${slug} are missing`)
    }
    const readTags = async (): Promise<void> => {
      const known = [...tagged]
      const lost = missing(known, await withTag())
      if (lost.length > 0) problems.push(`${lost} are missing of ${known.length} with the tag`)
    }
    const search = async (): Promise<void> => {
      const odd = (await found(wordOf(3)))?.filter((slug) => Number(slug.split('-').pop()) % 5 !== 3)
      if (odd?.length) problems.push(`a search for ${wordOf(3)} finds ${odd}`)
    }
    const load = [
      ...slugs.map((slug) => again((number) => commit(slug, number))),
      ...slugs.map((slug) => again(readRevisions(slug))),
      again((number) => (number < 60 ? create(`made-${number}`) : pause(20))),
      again(readTags),
      again(readTags),
      again(search),
    ]
    for (let removal = 0; removal < REMOVALS; removal++) {
      for (const from = answered; answered < from + ANSWERS_BETWEEN;) await pause(1)
      await removeIndex(storeDir)
    }
    isOver = true
    await Promise.all(load)
    const told = server.errors.filter((line) => !line.includes('storage_unavailable'))
    expect(problems.slice(0, 5), told.slice(0, 5).join('\n')).to.deep.equal([])
    for (const [slug, ids] of acknowledged)
      expect((await listed(slug))?.sort(), slug).to.deep.equal([...ids].sort())
    expect((await withTag())?.sort()).to.deep.equal([...tagged].sort())
    const numbers = slugs.flatMap((slug) => (acknowledged.get(slug) ?? []).map((_, at) => ({ slug, at })))
    const wanted = numbers
      .filter(({ at }) => at > 0 && (at + 1) % 5 === 3)
      .map(({ slug, at }) => `${slug}-${at + 1}`)
    // Words come back a few hundred revisions a search.
    for (let left = 50; left > 0 && missing(wanted, await found(wordOf(3))).length > 0; left--)
      await pause(10)
    expect((await found(wordOf(3)))?.sort()).to.deep.equal(wanted.sort())
    // A search that is refused for a moment is told to the log as well.
    expect(server.errors.filter((line) => !line.includes('storage_unavailable'))).to.deep.equal([])
    expect(readdirSync(join(storeDir, 'default')).filter((name) => name.includes('damaged'))).to.deep.equal(
      [],
    )
  })
})

/** What the message of a revision says, by its version. */
function wordOf(version: number): string {
  return ['zero', 'one', 'two', 'three', 'four'][version % 5] ?? ''
}

/** One name after the other, as `rm` does it: the server may have made a new one of the first before the last is gone. */
async function removeIndex(storeDir: string): Promise<void> {
  for (const part of ['', '-shm', '-wal']) {
    rmSync(join(storeDir, 'default', `index.db${part}`), { force: true })
    await pause(1)
  }
}
