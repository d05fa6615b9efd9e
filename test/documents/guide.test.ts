import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type ChatStub, startChatStub } from '../support/servers/chat-stub.ts'
import { runDocument } from './run-document.ts'

/** What a reader has done who comes to a page of the guide. */
const STARTED = '```sh\nnpm ci\nnpm start\n```\n\n'
const BEFORE = STARTED.split('\n').length - 1

const PAGES = [...pagesIn('docs/guide'), ...pagesIn('docs/operations')]

describe('the guide', () => {
  let model: ChatStub
  before(async () => {
    model = await startChatStub()
  })
  after(() => model.stop())

  for (const page of PAGES) {
    const text = readFileSync(page, 'utf8')
    if (!text.includes('```sh')) continue
    it(`${page} runs as it stands, on a server that has just been started`, async function () {
      this.timeout(900_000) // many programs, on a machine with other work
      const problems = await runDocument(STARTED + text, { env: { OPENAI_BASE_URL: model.url } })
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
