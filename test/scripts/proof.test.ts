import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const PROGRAM = fileURLToPath(new URL('../../scripts/proof.js', import.meta.url))

describe('npm run proof', () => {
  it('says how to ask for a proof, and which versions of Node are tested', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'oddities'], {
      encoding: 'utf8',
    })
    expect([status, stdout]).to.deep.equal([1, ''])
    expect(stderr).to.match(/^There is no proof "oddities"\.\n\n/)
    expect(stderr).to.contain('20, 22, 24 unless given')
  })
})
