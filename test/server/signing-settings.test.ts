import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect } from 'chai'
import { ConfigError } from '../../src/config.ts'
import { signingSettings } from '../../src/server/signing-settings.ts'
import { temporaryFolder } from '../support/git/git-program.ts'
import { makeKey, type KeyPair, needsSshKeygen } from '../support/git/ssh-keygen.ts'
import { startService } from '../support/servers/service.ts'

describe('the files of keys that the configuration names', () => {
  needsSshKeygen()
  let folder: string
  let key: KeyPair
  before(() => {
    folder = temporaryFolder()
    key = makeKey(folder, 'key')
  })

  function problemOf(files: { readonly key?: string; readonly allowed?: string }): string {
    try {
      signingSettings({ signingKeyFile: files.key, allowedSignersFile: files.allowed })
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError)
      return (error as ConfigError).message
    }
    return expect.fail('the files were accepted')
  }

  it('may be none, and then nothing is signed and nobody believed', () => {
    const none = { signingKeyFile: undefined, allowedSignersFile: undefined }
    expect(signingSettings(none)).to.deep.equal({ key: undefined, allowed: [] })
  })

  it('give the key, which is believed itself beside those allowed', () => {
    writeFileSync(`${folder}/allowed`, `ann ${makeKey(folder, 'other').publicLine}\n`)
    symlinkSync(key.file, `${folder}/link`)
    const signing = signingSettings({
      signingKeyFile: `${folder}/link`,
      allowedSignersFile: `${folder}/allowed`,
    })
    expect(signing.key?.publicKey.fingerprint).to.equal(key.fingerprint)
    expect(signing.allowed).to.have.length(2)
    expect(signing.allowed[0]?.blob).to.equal(signing.key?.publicKey.blob)
  })

  for (const mode of [0o644, 0o640, 0o602, 0o601]) {
    it(`a key of mode ${mode.toString(8)} is refused with the command that helps`, () => {
      chmodSync(key.file, mode)
      const problem = problemOf({ key: key.file })
      chmodSync(key.file, 0o600)
      expect(problem)
        .to.contain(`SIGNING_KEY_FILE: "${key.file}" can be read by others (its mode is ${mode.toString(8)})`)
        .and.contain(`chmod 600 '${key.file}'`)
    })
  }

  it('are refused all at once, by variable, path and reason, and never by what they hold', () => {
    writeFileSync(`${folder}/text`, 'a secret in the wrong file', { mode: 0o600 })
    const problem = problemOf({ key: `${folder}/text`, allowed: `${folder}/text` })
    expect(problem)
      .to.contain(`SIGNING_KEY_FILE: "${folder}/text" is no private key`)
      .and.contain(`ALLOWED_SIGNERS_FILE: "${folder}/text" line 1 is not`)
      .and.not.contain('a secret')
    expect(problemOf({ key: `${folder}/nothing` })).to.contain('is not there')
    expect(problemOf({ key: folder })).to.contain('is not a file')
    expect(problemOf({ key: `${key.file}/below` })).to.contain('cannot be opened (ENOTDIR)')
    writeFileSync(`${folder}/large`, Buffer.alloc(2 ** 20 + 1))
    expect(problemOf({ allowed: `${folder}/large` })).to.contain('has 1048577 bytes')
  })

  it('keep the service from starting when they are bad', async () => {
    const storeDir = temporaryFolder()
    const refused = await startService({ storeDir, env: { SIGNING_KEY_FILE: `${folder}/nothing` } }).catch(
      (error: unknown) => error,
    )
    expect(refused).to.be.instanceOf(ConfigError)
  })
})
