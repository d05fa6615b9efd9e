import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'

/** The programs of threads that load much as modules. */
const THREADS = ['search-thread', 'trace-thread', 'document-job', 'long-job-thread']

describe('the bundle of the server', () => {
  it('starts the threads that load much from the bundle', () => {
    const names = readdirSync('dist/server').filter((name) => name.endsWith('.js'))
    const texts = names.map((name) => readFileSync(`dist/server/${name}`, 'utf8'))
    for (const thread of THREADS) {
      expect(names).to.include(`${thread}.js`)
      // anything else starts the file that tsc made of it, which loads a file for each module
      const program = new RegExp(`[\\w./-]{0,100}/${thread}\\.js(?=["'\`])`, 'g')
      const named = texts.flatMap((text) => text.match(program) ?? [])
      expect(named, thread).to.deep.equal([`../server/${thread}.js`])
    }
  })
})
