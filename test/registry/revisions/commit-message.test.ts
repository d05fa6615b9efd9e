import { expect } from 'chai'
import fc from 'fast-check'
import { writeFileSync } from 'node:fs'
import { git, temporaryFolder } from '../../support/git/git-program.ts'
import {
  decodeMessage,
  type Trailers,
  type WrittenCommit,
  writeCommit,
} from '../../../src/registry/revisions/stored-revision.ts'

const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** A commit that says this. */
function commitOf(said: {
  readonly message: string | undefined
  readonly subject?: string | undefined
  readonly trailers: Trailers
}): WrittenCommit {
  const registry = { now: () => new Date(0), signing: { key: undefined } }
  const actor = { id: 'id', name: 'Ann', email: 'ann@example.com' }
  return writeCommit(registry, { write: () => TREE }, { tree: TREE, parents: [], ...said }, { actor })
}

function encodeMessage(said: Parameters<typeof commitOf>[0]): string {
  return commitOf(said).commit.message
}

describe('commit messages', () => {
  const trailers = { variant: 'main', slug: 'named', idempotencyKey: 'k-1' }

  for (const message of [
    undefined,
    '',
    'Cooler',
    'Cooler\n',
    'Two\n\nparagraphs\n\n\n',
    'Ends as ours do\n\nVariant: mine',
    'Variant: mine',
    'Signed\n\nSigned-off-by: Ann <ann@example.com>',
    '\r\n',
  ]) {
    it(`${JSON.stringify(message)} comes back as it was`, () => {
      expect(decodeMessage(encodeMessage({ message, trailers }))).to.deep.include({ message, trailers })
    })
  }

  it('any message comes back as it was', () => {
    const line = fc.constantFrom('Variant: a', 'Slug: b', 'Key: value', '', 'text', ' ')
    const message = fc.oneof(
      fc.string(),
      fc.array(line).map((lines) => lines.join('\n')),
    )
    fc.assert(
      fc.property(message, (text) => {
        expect(decodeMessage(encodeMessage({ message: text, trailers })).message).to.equal(text)
      }),
      { seed: 1, numRuns: 2000 },
    )
  })

  it('what a commit was written with is what reading it back says', () => {
    const line = fc.constantFrom(
      'Variant: a',
      'Generated-Subject: 12345678',
      'Key: value',
      '',
      'text',
      ' ',
      '\r',
    )
    const message = fc.oneof(
      fc.constant(undefined),
      fc.string(),
      fc.array(line).map((lines) => lines.join('\n')),
    )
    fc.assert(
      fc.property(message, fc.boolean(), (text, hasTrailers) => {
        const said = { message: text, subject: text === undefined ? 'Made' : undefined }
        const { commit, ...written } = commitOf({
          ...said,
          trailers: hasTrailers ? trailers : { variant: 'x' },
        })
        expect(written).to.deep.equal({ oid: TREE, ...decodeMessage(commit.message) })
      }),
      { seed: 2, numRuns: 4000 },
    )
  })

  it("joins a block of the message's own trailers, as git interpret-trailers reads them", () => {
    const message = 'Signed\n\nSigned-off-by: Ann <ann@example.com>'
    expect(encodeMessage({ message, trailers: { variant: 'main' } })).to.equal(`${message}\nVariant: main\n`)
  })

  it("reads what plain git wrote: its final newline is git's", () => {
    expect(decodeMessage('By hand\n')).to.deep.equal({ message: 'By hand', subject: 'By hand', trailers: {} })
    expect(decodeMessage('By hand\n\nVariant: main\n').message).to.equal('By hand')
  })

  describe('a subject that was made', () => {
    const subject = 'Set parameters.temperature to 0.2'
    const text = encodeMessage({ message: undefined, subject, trailers })
    const hash = /Generated-Subject: ([0-9a-f]{8})\n/.exec(text)?.[1] ?? ''

    it('is what git shows, and no message', () => {
      expect(text.startsWith(`${subject}\n\nVariant: main\n`)).to.equal(true)
      expect(decodeMessage(text)).to.deep.include({ message: undefined, subject })
    })

    it('is a message once it is amended, with a body or without', () => {
      const other = text.replace('0.2', '0.3')
      expect(decodeMessage(other)).to.deep.include({
        message: subject.replace('0.2', '0.3'),
        subject: subject.replace('0.2', '0.3'),
      })
      const longer = text.replace(subject, `${subject}\n\nBecause of the weather`)
      expect(decodeMessage(longer).message).to.equal(`${subject}\n\nBecause of the weather`)
    })

    it('sent as a message stays a message, with a fitting trailer of its own, too', () => {
      for (const message of [subject, `${subject}\n\nGenerated-Subject: ${hash}`]) {
        const sent = encodeMessage({ message, subject: undefined, trailers })
        expect(decodeMessage(sent)).to.deep.include({ message, subject })
      }
    })

    it('counts only with a hash: other values under the same word are the sender’s', () => {
      const message = 'Fix\n\nGenerated-Subject: by our tool'
      const stored = encodeMessage({ message, trailers: { variant: 'main' } })
      expect(stored).to.equal(`${message}\nVariant: main\n`)
      expect(decodeMessage(stored).message).to.equal(message)
    })
  })

  const folder = temporaryFolder()

  it('shows the subject that git shows, of any text', () => {
    const piece = fc.constantFrom(
      '\n',
      '\r',
      '\t',
      ' ',
      '\v',
      '\f',
      '\u00a0',
      'a',
      'é',
      '\u2028',
      '#',
      'Variant: x',
    )
    const texts = [
      ...fc
        .sample(fc.array(piece, { maxLength: 12 }), { seed: 1, numRuns: 300 })
        .map((pieces) => pieces.join('')),
      ...fc
        .sample(fc.string({ unit: 'binary' }), { seed: 2, numRuns: 100 })
        .filter((it) => !/[\0\p{Cs}]/u.test(it)),
      encodeMessage({ message: undefined, trailers }),
      encodeMessage({ message: 'One\ntwo\n\nthree', trailers }),
      encodeMessage({ message: undefined, subject: 'Made', trailers }),
    ]
    git(folder, ['init', '-q', '--bare', '.'])
    const tree = git(folder, ['mktree'], '')
    const person = 'A <a@example.com> 1700000000 +0000'
    const paths = texts.map((text, index) => {
      const path = `${folder}/${index}`
      writeFileSync(path, `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\n${text}`)
      return path
    })
    const oids = git(folder, ['hash-object', '-t', 'commit', '-w', '--stdin-paths'], paths.join('\n'))
    const args = ['log', '--no-walk=unsorted', '--stdin', '--format=%H %s%x00']
    const shown = new Map(
      git(folder, args, oids)
        .split('\0')
        .map((line) => [line.trimStart().slice(0, 40), line.replace(/^\n?.{41}/, '')]),
    )
    for (const [index, oid] of oids.split('\n').entries())
      expect(decodeMessage(texts[index] ?? '').subject, JSON.stringify(texts[index])).to.equal(shown.get(oid))
  })
})
