import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint completion', () => {
  const completion = (...args: readonly string[]) =>
    spawnSync(process.execPath, [MAIN, 'completion', ...args], { encoding: 'utf8' })

  /** What bash offers for the last of the words. */
  function offered(...words: readonly string[]): readonly string[] {
    const line = ['branchpoint', ...words]
    const script = `${completion('bash').stdout}
COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length}
_branchpoint
printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect(stderr).to.equal('')
    return stdout.split('\n').filter((word) => word !== '')
  }

  it('completes commands, sub-commands and options in bash', function () {
    if (spawnSync('bash', ['--version']).status !== 0) this.skip()
    expect(offered('ba')).to.deep.equal(['backup'])
    expect(offered('')).to.include.members(['serve', 'keys', 'completion'])
    expect(offered('testsets', '')).to.deep.equal(['import', 'export'])
    expect(offered('trash', 'pu')).to.deep.equal(['purge'])
    expect(offered('keys', 'create', '--pr')).to.deep.equal(['--project'])
    expect(offered('verify', '--')).to.have.members([
      ...['--from', '--store', '--project', '--repair', '--second-reader', '--json', '--jsonl', '--help'],
    ])
    // The shell offers files then.
    expect(offered('canonicalise', '')).to.deep.equal([])
    expect(offered('testsets', 'import', '')).to.deep.equal([])
  })

  for (const shell of ['zsh', 'fish']) {
    it(`is a script that ${shell} can read`, function () {
      const { stdout, status } = completion(shell)
      expect(status).to.equal(0)
      for (const word of ['canonicalise', 'undelete', 'threshold', 'base-url'])
        expect(stdout).to.contain(word)
      if (spawnSync(shell, ['--version']).status !== 0) this.skip()
      expect(spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })).to.include({
        status: 0,
        stderr: '',
      })
    })
  }

  it('refuses another shell by its name', () => {
    const { status, stderr } = completion('fihs')
    expect(status).to.equal(2)
    expect(stderr).to.contain('There is no command "fihs". Did you mean "fish"?')
  })
})
