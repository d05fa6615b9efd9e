import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { git } from '../../support/git/git-program.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneOf, latest } from '../../support/git/git-client.ts'

const SYSTEM = 'You are a geographer.\nName capitals.\nBe brief.'

describe('git: the texts of a prompt are files', () => {
  let service: RunningService
  let variant: string
  before(async () => {
    service = await startService()
    const { body } = await service.post('/simple/workflows/', {
      workflow: {
        slug: 'bot',
        data: prompt(['system', SYSTEM], ['user', 'What is the capital of {{country}}?']),
      },
    })
    variant = body.workflow.variant_id
  })
  after(() => service.stop())

  const commit = async (data: object, message = 'Edit') => {
    const { status, text } = await service.post('/workflows/revisions/commit', {
      workflow_revision_commit: { workflow_variant_id: variant, message, data },
    })
    expect(status, text).to.equal(200)
  }
  const clone = () => cloneOf(service, 'bot')

  // interface 7.16
  it('a clone has them, and a word that is changed there and pushed is a revision', async () => {
    const tree = await clone()
    expect(await tree.git('ls-files')).to.equal('data.json\nprompt/system.md\nprompt/user.md')
    expect(await tree.git('show', 'HEAD:prompt/system.md')).to.equal(SYSTEM)
    tree.write('prompt/system.md', `${SYSTEM.replace('brief', 'very brief')}\n`)
    await tree.commit('Shorter')
    await tree.git('push', '-q')
    const { data, version, message } = await latest(service, 'bot')
    expect([version, message]).to.deep.equal([2, 'Shorter'])
    expect(data).to.deep.equal(
      prompt(
        ['system', SYSTEM.replace('brief', 'very brief')],
        ['user', 'What is the capital of {{country}}?'],
      ),
    )
  })

  // interface 7.16
  it('git shows the words that changed, and who wrote each line', async () => {
    await commit(
      prompt(
        ['user', 'Hello.'],
        ['system', SYSTEM.replace('brief', 'very brief').replace('capitals', 'capitals only')],
        ['user', 'What is the capital of {{country}}?'],
      ),
      'Only capitals',
    )
    const tree = await clone()
    expect(await tree.git('diff', '--word-diff', 'HEAD~2', 'HEAD', '--', 'prompt/system.md')).to.include(
      'Name [-capitals.-]{+capitals only.+}',
    )
    const subjects = await Promise.all(
      [1, 2, 3].map(async (line) => {
        const blamed = await tree.git('blame', '--porcelain', `-L${line},${line}`, 'prompt/system.md')
        return /^summary (.*)$/m.exec(blamed)?.[1]
      }),
    )
    expect(subjects.slice(1)).to.deep.equal(['Only capitals', 'Shorter'])
    expect(await tree.git('log', '--format=%s', '--follow', '--', 'prompt/user.md')).not.to.include(
      'Only capitals',
    )
  })

  it('two edits of different lines merge with plain git', async () => {
    const tree = await clone()
    await tree.git('checkout', '-q', '-b', 'other')
    edit(tree, 'prompt/system.md', (text) => text.replace('You are a geographer.', 'You are a teacher.'))
    await tree.commit('A teacher')
    await tree.git('checkout', '-q', 'bot')
    edit(tree, 'prompt/system.md', (text) => text.replace('very brief', 'brief again'))
    await tree.commit('Brief again')
    await tree.git('merge', '-q', '--no-ff', '-m', 'Both', 'other')
    await tree.git('push', '-q')
    const { data } = await latest(service, 'bot')
    expect(data.parameters.prompt.messages[1].content).to.equal(
      'You are a teacher.\nName capitals only.\nBe brief again.',
    )
  })

  it('an edit is rebased, and picked from another branch, with plain git', async () => {
    const tree = await clone()
    edit(tree, 'prompt/system.md', (text) => `${text}Answer in French.\n`)
    await tree.commit('In French')
    const { data } = await latest(service, 'bot')
    const [first, system, ...others] = data.parameters.prompt.messages
    await commit(
      {
        ...data,
        parameters: { prompt: { messages: [first, { role: 'user', content: 'New.' }, system, ...others] } },
      },
      'One more in front',
    )
    expect((await tree.try('push')).code).to.equal(1)
    await tree.git('pull', '-q', '--rebase')
    await tree.git('push', '-q')
    await tree.git('checkout', '-q', '-b', 'picked', 'HEAD~1')
    await tree.git('cherry-pick', 'bot')
    await tree.git('push', '-q', 'origin', 'picked')
    for (const variant of ['bot', 'picked']) {
      const reply = await service.post('/workflows/revisions/retrieve', {
        workflow_variant_ref: { slug: variant },
      })
      const { messages } = reply.body.workflow_revision.data.parameters.prompt
      expect(messages.map(({ content }: { content: string }) => content.split('\n').at(-1))).to.deep.equal([
        'Hello.',
        'New.',
        'Answer in French.',
        'What is the capital of {{country}}?',
      ])
    }
  })

  it('a file that is no text stays in its folder, over REST, too', async () => {
    const tree = await clone()
    tree.write('prompt/NOTES.txt', 'mine\n')
    await tree.commit('Notes')
    await tree.git('push', '-q')
    const { data } = await latest(service, 'bot')
    await commit({ ...data, uri: 'svc:builtin:chat:v0' }, 'A uri')
    await tree.git('pull', '-q')
    expect(await tree.git('show', 'HEAD:prompt/NOTES.txt')).to.equal('mine')
  })

  for (const [what, change, sentence] of [
    [
      'as Latin-1',
      (tree: Clone) => tree.write('prompt/system.md', Buffer.from('caf\u00e9\n', 'latin1')),
      /prompt\/system\.md: line 1, column 4: the bytes there are not valid UTF-8/,
    ],
    [
      'as a symbolic link',
      (tree: Clone) => {
        rmSync(join(tree.folder, 'prompt/system.md'))
        symlinkSync('user.md', join(tree.folder, 'prompt/system.md'))
      },
      /prompt\/system\.md is a symbolic link/,
    ],
    [
      'as a folder',
      (tree: Clone) => {
        rmSync(join(tree.folder, 'prompt/system.md'))
        mkdirSync(join(tree.folder, 'prompt/system.md'))
        tree.write('prompt/system.md/x', '')
      },
      /prompt\/system\.md, but there is no such file/,
    ],
    [
      'away',
      (tree: Clone) => rmSync(join(tree.folder, 'prompt/system.md')),
      /prompt\/system\.md, but there is no such file/,
    ],
    [
      'under a climbing path',
      (tree: Clone) =>
        edit(tree, 'data.json', (text) => text.replace('prompt/system.md', 'prompt/../../etc/passwd')),
      /names "prompt\/\.\.\/\.\.\/etc\/passwd", but a text lies below prompt\/ or parameters\//,
    ],
    [
      'in a later format',
      (tree: Clone) =>
        edit(tree, 'data.json', (text) => text.replace('"@svc.format": 2', '"@svc.format": 3')),
      /of the format 3, which this server does not know/,
    ],
  ] as const)
    it(`a text that is pushed ${what} is refused with a sentence, and nothing is stored`, async () => {
      const tree = await clone()
      const { version } = await latest(service, 'bot')
      change(tree)
      await tree.commit('Odd')
      const { code, terminal } = await tree.try('push')
      expect(code).to.equal(1)
      expect(terminal.replaceAll(/\nremote: +/g, ' ')).to.match(sentence)
      expect((await latest(service, 'bot')).version).to.equal(version)
    })

  it('a text with a NUL is kept exactly', async () => {
    const tree = await clone()
    tree.write('prompt/user.md', 'a\0b')
    await tree.commit('NUL')
    await tree.git('push', '-q')
    const { data } = await latest(service, 'bot')
    expect(data.parameters.prompt.messages.at(-1).content).to.equal('a\0b')
  })

  it('a byte order mark and CR LF are taken as they are, the terminal says so once, and canonicalise takes them out', async () => {
    await commit(prompt(['system', 'One\nTwo'], ['user', 'Three']))
    const tree = await clone()
    edit(tree, 'prompt/system.md', () => '\ufeffOne\r\nTwo\r\n')
    mkdirSync(join(tree.folder, 'parameters'), { recursive: true })
    tree.write('parameters/notes.md', '\ufeffmine\r\n')
    await tree.commit('From Windows')
    const { terminal } = await tree.try('push')
    expect(terminal).to.match(
      /remote: warning: byte_order_mark: prompt\/system\.md begins with a byte order mark/,
    )
    expect(terminal).to.match(/remote: warning: carriage_returns: prompt\/system\.md ends lines with CR LF/)
    expect(terminal).to.not.include('notes.md')
    const said = async () => (await latest(service, 'bot')).data.parameters.prompt.messages[0].content
    expect(await said()).to.equal('\ufeffOne\r\nTwo\r')
    tree.write('prompt/user.md', 'Four\n')
    await tree.commit('Another file')
    expect((await tree.try('push')).terminal).to.not.include('warning:')

    const printed = execFileSync(process.execPath, ['dist/src/cli/main.js', 'canonicalise', tree.folder], {
      encoding: 'utf8',
    })
    expect(printed).to.equal('prompt/system.md\n1 files changed\n')
    expect(readFileSync(join(tree.folder, 'parameters/notes.md'), 'utf8')).to.equal('\ufeffmine\r\n')
    await tree.commit('Clean')
    expect((await tree.try('push')).terminal).to.not.include('warning:')
    expect(await said()).to.equal('One\nTwo')
  })

  it('the repository is whole for git', async () => {
    await commit(prompt(['user', 'end']))
    expect(git(service.repository('bot'), ['fsck', '--strict'])).to.equal('')
  })
})

function prompt(...messages: readonly (readonly [role: string, content: string])[]): object {
  return { parameters: { prompt: { messages: messages.map(([role, content]) => ({ role, content })) } } }
}

function edit(tree: Clone, path: string, change: (text: string) => string): void {
  const text = readFileSync(join(tree.folder, path), 'utf8')
  tree.write(path, change(text))
}
