import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

/** The programs of threads, and what they load. */
const THREADS = [
  'aside-thread',
  'document-job',
  'find-embeds',
  'long-job-thread',
  'search-thread',
  'trace-thread',
  'xlsx-thread',
]

describe('the bundle of the server', () => {
  it('starts every thread from the bundle', () => {
    const names = readdirSync('dist/server').filter((name) => name.endsWith('.js'))
    const texts = names.map((name) => readFileSync(`dist/server/${name}`, 'utf8'))
    for (const thread of THREADS) {
      expect(names).to.include(`${thread}.js`)
      // anything else starts the file that tsc made of it, which loads a file for each module
      const named = texts.flatMap((text) =>
        text
          .split(`/${thread}.js`)
          .slice(0, -1)
          .map((before) => `${/[\w./-]{0,100}$/.exec(before.slice(-100))?.[0]}/${thread}.js`),
      )
      expect(named, thread).to.deep.equal([`../server/${thread}.js`])
    }
  })
})
