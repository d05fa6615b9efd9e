import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { gitOn, runGit } from '../../../src/git/program/git-process.ts'
import { gitEnvironment } from '../../../src/git/program/git-environment.ts'
import { repositoryWithHistory, temporaryFolder } from '../../support/git/git-program.ts'

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

  it('is the same for every run, and has nothing of the user’s own configuration', async () => {
    const home = temporaryFolder()
    writeFileSync(`${home}/.gitconfig`, '[user]\n\tname = Somebody Else\n')
    const before = process.env['HOME']
    process.env['HOME'] = home
    try {
      const { code, output } = await gitOn(repositoryWithHistory(1), ['config', '--list'])
      expect(code).to.equal(0)
      expect(output).not.to.contain('Somebody')
    } finally {
      process.env['HOME'] = before
    }
  })

  it('is told of where git is not to be found, and ends as killed where nobody waits any more', async () => {
    const folder = repositoryWithHistory(1)
    const gone = await gitOn(folder, ['rev-list', 'main'], { signal: AbortSignal.abort() })
    expect(gone.code).to.equal(null)
    const before = process.env['PATH']
    process.env['PATH'] = '/nowhere'
    try {
      const refused = await gitOn(folder, ['rev-list', 'main']).catch((error) => error)
      expect(refused).to.have.property('code', 'storage_unavailable')
    } finally {
      process.env['PATH'] = before
    }
  })
})
