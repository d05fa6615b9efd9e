import { expect } from 'chai'
import fc from 'fast-check'
import { writeFileSync } from 'node:fs'
import { runGit } from '../../support/git/git-client.ts'
import { temporaryFolder } from '../../support/git/git-program.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import type { Family } from '../../../src/registry/payload/family.ts'
import { revisionSubject } from '../../../src/registry/revisions/revision-subject.ts'

describe('versioning: the subject of a revision', () => {
  const families = [workflowFamily, environmentFamily]
  const subjectOf = (before: unknown, after: unknown, family: Family = workflowFamily, artifact = 'bot') => {
    const content = (data: unknown) => ({
      header: {},
      payload: parseJson(JSON.stringify(data)) as JsonObject,
    })
    const sides = { families, family, artifact, before: content(before), after: content(after) }
    return revisionSubject({ ...sides, changedRows: undefined, met: undefined })
  }
  const expectLine = (subject: string) => {
    expect(subject.length, subject).to.be.within(1, 72)
    expect(subject).not.to.match(/[\p{C}\p{Zl}\p{Zp}]/u)
    expect(subject).to.match(/^[A-Z][a-z]+ \S/)
    expect(subject.trim()).to.equal(subject)
  }

  const key = fc.oneof(
    fc.constantFrom(
      'a',
      'b',
      'messages',
      'content',
      '',
      ' ',
      '__proto__',
      '0',
      'x\nVariant: y',
      '\u202e',
      '"',
      '\\',
      '.',
    ),
    fc.string({ unit: 'binary', maxLength: 60 }).filter((text) => !/\p{Cs}/u.test(text)),
  )
  const document = fc.dictionary(
    key,
    fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.boolean(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.string({ unit: fc.constantFrom('a', 'b', '\n', ' ', '\0') }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    })).value,
    { maxKeys: 5 },
  )

  it('is one printable line of 72 characters at most, and the same for the same change', async () => {
    await fc.assert(
      fc.asyncProperty(document, document, async (before, after) => {
        const subject = await subjectOf(before, after)
        expectLine(subject)
        expect(await subjectOf(before, after)).to.equal(subject)
        const isSame =
          stringifyJson(parseJson(JSON.stringify(before))) === stringifyJson(parseJson(JSON.stringify(after)))
        if (isSame) expect(subject).to.equal('Change nothing')
        expect(await subjectOf(after, after)).to.equal('Change nothing')
      }),
      { seed: 24, numRuns: 2000 },
    )
  })

  it('of a deployment, too, whatever things and environments are called', async () => {
    const pins = (names: readonly string[]) => ({
      references: Object.fromEntries(
        names.map((name) => [
          name,
          { application: { slug: name }, application_revision: { slug: name, version: 1_000_000 } },
        ]),
      ),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(key, { maxLength: 3 }),
        fc.array(key, { maxLength: 3 }),
        key,
        async (old, now, slug) => {
          expectLine(await subjectOf(pins(old), pins(now), environmentFamily, slug))
        },
      ),
      { seed: 25, numRuns: 500 },
    )
    const long = 's'.repeat(200)
    expect(await subjectOf(pins([]), pins([long]), environmentFamily, long)).to.match(
      /^Deploy "s+…" v1000000 to "s+…"$/,
    )
    expect(
      await subjectOf(
        pins([]),
        pins(['a-bot-for-support-tickets']),
        environmentFamily,
        'production-of-europe',
      ),
    ).to.equal('Deploy a-bot-for-support-tickets v1000000 to production-of-europe')
  })

  it('counts lines as git does', async () => {
    const folder = temporaryFolder()
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 6 })
      .map((it) => it.join('\n'))
    for (const [before, after] of fc.sample(fc.tuple(text, text), { seed: 26, numRuns: 60 })) {
      if (before === after) continue
      writeFileSync(`${folder}/before`, `${before}\n`)
      writeFileSync(`${folder}/after`, `${after}\n`)
      const args = ['diff', '--no-index', '--minimal', '--numstat', 'before', 'after']
      const { output } = await runGit(folder, args)
      const [added, removed] = output.split('\t')
      expect(await subjectOf({ text: before }, { text: after })).to.equal(`Edit text (+${added} −${removed})`)
    }
  })

  it('of what is too much to compare says so in general, and soon', async () => {
    const nested = (value: string): unknown =>
      Array.from({ length: 100 }).reduce<unknown>((inner) => [inner], value)
    const cases: [unknown, unknown, string][] = [
      [{ a: 'x'.repeat(1_000_000) }, { a: 'y' }, 'Change data'],
      [{ a: '\n'.repeat(10_000) }, { a: 'y' }, 'Edit a'],
      [
        { a: nested('x'.repeat(200_000)) },
        { a: nested('y'.repeat(200_000)) },
        'Edit …' + '.0'.repeat(19) + ' (+1 −1)',
      ],
      [
        { a: Array.from({ length: 900 }, (_, at) => at) },
        { a: Array.from({ length: 900 }, (_, at) => -at) },
        'Change a',
      ],
    ]
    for (const [before, after, subject] of cases) expect(await subjectOf(before, after)).to.equal(subject)
  })

  it('never fails a write: what cannot be compared is changed data', async () => {
    const broken = { ...environmentFamily, pins: () => expect.fail('broken') }
    expect(await subjectOf({ references: {} }, { references: {} }, broken)).to.equal('Change data')
  })
})
