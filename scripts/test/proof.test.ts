import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const PROGRAM = fileURLToPath(new URL('../proof.js', import.meta.url))

function proof(...args: readonly string[]) {
  return spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' })
}

describe('npm run proof', () => {
  it('lists the proofs with their options', () => {
    const { status, stdout, stderr } = proof('--help')
    expect([status, stderr]).to.deep.equal([0, ''])
    for (const name of ['kill', 'crash', 'linear', 'fuzz', 'push', 'model', 'soak', 'mutants', 'nodes'])
      expect(stdout).to.match(new RegExp(`^  ${name} .*\\[`, 'm'))
    expect(proof().stdout).to.equal(stdout)
  })

  it('names a proof that is not there', () => {
    const { status, stdout, stderr } = proof('oddities')
    expect([status, stdout]).to.deep.equal([1, ''])
    expect(stderr).to.match(/^There is no proof "oddities"\.\n\n/)
  })

  it('says what a proof takes, and which versions of Node are tested', () => {
    expect(proof('kill', '--help').stdout).to.match(/^npm run proof -- kill \[--rounds N\]/)
    expect(proof('nodes', '--help').stdout).to.contain('20, 22, 24 unless given')
    expect(proof('fuzz', '--help').stdout).to.contain('--departures')
  })

  it('passes the options on', () => {
    const { status, stdout } = proof('model', '--runs', '1', '--steps', '20', '--seed', '7')
    expect(stdout).to.match(/^1 histories, .* seed 7: every answer was as the model says\n$/)
    expect(status).to.equal(0)
  })
})
