import { expect } from 'chai'
import { runGit } from '../../../src/git/process/git-process.ts'
import { gitEnvironment } from '../../../src/git/process/git-environment.ts'
import { temporaryFolder } from '../git-program.ts'

describe('the environment of git', () => {
  it('has nothing of ours but where programs are', () => {
    process.env['SVC_API_KEY_OF_THE_TEST'] = 'secret'
    process.env['GIT_DIR'] = '/elsewhere'
    try {
      const names = Object.keys(gitEnvironment()).filter((name) => !name.startsWith('GIT_'))
      expect(names.sort()).to.deep.equal(['HOME', 'LC_ALL', 'PATH'])
      expect(gitEnvironment()).to.not.have.property('GIT_DIR')
    } finally {
      delete process.env['SVC_API_KEY_OF_THE_TEST']
      delete process.env['GIT_DIR']
    }
  })

  it('tells git settings that no file keeps', async () => {
    const args = ['-C', temporaryFolder(), 'config', '--list']
    const { output } = await runGit({ args, env: gitEnvironment({ 'some.thing': 'a b' }) })
    expect(output.trim().split('\n')).to.deep.equal([
      'safe.directory=*',
      'core.hookspath=/dev/null',
      'pack.threads=1',
      'some.thing=a b',
    ])
  })
})
