import { expect } from 'chai'
import { sshStrings } from '../../../src/git/signing/ssh/wire.ts'
import { parseAllowedSigners } from '../../../src/git/signing/allowed-signers.ts'

const BLOB = 'AAAAC3NzaC1lZDI1NTE5AAAAID6I2QQkHiZO7OLWnKN/SWVdewi3KTqzwfT8sONwLZvC'
const KEY = `ssh-ed25519 ${BLOB}`
const noPoint = sshStrings('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 4)).toString('base64')
const signer = { blob: Buffer.from(BLOB, 'base64'), validAfter: undefined, validBefore: undefined }

describe('git: allowed signers', () => {
  for (const line of [
    `ann@example.com ${KEY}`,
    `*@example.com,!bo@example.com ${KEY} a comment ssh-rsa AAAA`,
    `"Ann of Accounts" ${KEY}`,
    `ann\tnamespaces="git" ${KEY}`,
    `ann namespaces="file,g?t" ${KEY}`,
    `ann NAMESPACES="*" ${KEY}\r`,
  ]) {
    it(`takes ${line.replace(BLOB, '…')}`, () => {
      expect(parseAllowedSigners(`# a comment\n\n${line}\n`)).to.deep.equal([signer])
    })
  }

  for (const line of [
    `ann namespaces="file" ${KEY}`,
    `ann namespaces="*,!git" ${KEY}`,
    `ann namespaces="gi" ${KEY}`,
    `ann cert-authority ${KEY}`,
    'ann sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t',
    'ann ssh-dss AAAAB3NzaC1kc3M=',
    'ann ssh-ed25519-cert-v01@openssh.com AAAA',
  ]) {
    it(`passes ${line.replace(BLOB, '…')} over`, () => {
      expect(parseAllowedSigners(line)).to.deep.equal([])
    })
  }

  it('takes times, in UTC and in that of the machine', () => {
    const [found] = parseAllowedSigners(
      `ann namespaces="git,file",valid-after="20260102Z",valid-before="20260102030405Z" ${KEY}`,
    )
    expect(found?.validAfter).to.equal(Date.UTC(2026, 0, 2) / 1000)
    expect(found?.validBefore).to.equal(Date.UTC(2026, 0, 2, 3, 4, 5) / 1000)
    const [local] = parseAllowedSigners(`ann valid-after="202606021130" ${KEY}`)
    expect(local?.validAfter).to.equal(new Date(2026, 5, 2, 11, 30).getTime() / 1000)
  })

  for (const [line, answer] of [
    [KEY, 'line 3 is not "principals'],
    ['ann', 'line 3 is not "principals'],
    [`ann ssh-ed25519 !${BLOB}`, 'line 3 is not "principals'],
    [`ann ssh-ed25519 ${BLOB.slice(0, 40)}`, 'line 3 is cut off'],
    ['ann ssh-ed25519 AAAAB3NzaC1kc3M=', 'line 3 names a type that is not that of its key'],
    ['ann ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ==', 'line 3 is cut off'],
    [`ann ecdsa-sha2-nistp256 ${noPoint}`, 'line 3 holds a key that is none'],
    [`ann no-touch ${KEY}`, 'line 3 has an unknown option "no-touch"'],
    [`ann "namespaces=file" ${KEY}`, 'line 3 has options that cannot be read'],
    [`ann namespaces=git ${KEY}`, 'line 3 has options that cannot be read'],
    [`ann namespaces="file"git ${KEY}`, 'line 3 has options that cannot be read'],
    [`ann namespaces="file",namespaces="git" ${KEY}`, 'line 3 has the option "namespaces" twice'],
    [`ann valid-before="tomorrow" ${KEY}`, 'line 3 has "tomorrow", which is not a time'],
    [`ann valid-before="20261301" ${KEY}`, 'line 3 has "20261301", which is not a time'],
  ] as const) {
    it(`refuses ${line.replace(BLOB, '…')}, by its line`, () => {
      expect(() => parseAllowedSigners(`ann ${KEY}\n\n${line}\n`))
        .to.throw(answer)
        .with.property('name', 'Unreadable')
    })
  }
})
