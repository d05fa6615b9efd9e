import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type ChatStub, startChatStub } from '../support/servers/chat-stub.ts'
import { runDocument } from './run-document.ts'

/** What a reader has done who comes to a page of the guide. */
const STARTED = '```sh\nnpm ci\nnpm start\n```\n\n'
const BEFORE = STARTED.split('\n').length - 1

const PAGES = [...pagesIn('docs/guide'), ...pagesIn('docs/operations')]
const WITH_BLOCKS = PAGES.filter((page) => readFileSync(page, 'utf8').includes('```sh'))

describe('the guide', () => {
  let model: ChatStub
  before(async () => {
    model = await startChatStub()
  })
  after(async () => {
    await Promise.allSettled(runs.values())
    await model.stop()
  })

  const runs = new Map<string, Promise<readonly string[]>>()
  /** Two pages run at a time, the next one beside the one that is waited for: half of what a page takes is waiting. */
  const problemsOf = (page: string): Promise<readonly string[]> => {
    const at = WITH_BLOCKS.indexOf(page)
    for (const it of WITH_BLOCKS.slice(at, at + 2)) {
      if (runs.has(it)) continue
      const run = runDocument(STARTED + readFileSync(it, 'utf8'), { env: { OPENAI_BASE_URL: model.url } })
      run.catch(() => undefined) // told where it is waited for
      runs.set(it, run)
    }
    return runs.get(page) ?? Promise.reject(new Error(`${page} has no blocks`))
  }

  for (const page of WITH_BLOCKS) {
    it(`${page} runs as it stands, on a server that has just been started`, async function () {
      this.timeout(900_000) // many programs, on a machine with other work
      const problems = await problemsOf(page)
      const told = problems
        .join('\n\n')
        .replace(/\bline (\d+)/g, (_, line) => `line ${Number(line) - BEFORE}`)
      expect(told).to.equal('')
    })
  }

  it('names each of its pages', () => {
    const named = readFileSync('docs/guide/README.md', 'utf8')
    for (const page of pagesIn('docs/guide')) {
      const name = page.slice('docs/guide/'.length)
      if (name !== 'README.md') expect(named).to.contain(`(${name})`)
    }
  })
})

function pagesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
}
