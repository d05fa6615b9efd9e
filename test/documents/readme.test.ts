import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { runDocument } from './run-document.ts'

describe('README.md', () => {
  it('runs as it stands: every block, pasted in order in a fresh checkout, prints what it shows', async function () {
    this.timeout(900_000) // dozens of programs, on a machine with other work
    const problems = await runDocument(readFileSync('README.md', 'utf8'), { env: { NPM_ITSELF: 'yes' } })
    expect(problems.join('\n\n')).to.equal('')
  })
})
