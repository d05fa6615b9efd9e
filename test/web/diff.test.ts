import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

const FACTS = Array.from({ length: 20 }, (_, at) => `- Fact ${at} about orders.`).join('\n')
const SYSTEM = `You are the agent of Acme.\nAnswer in at most 120 words.\n${FACTS}\nSay goodbye.`

interface Message {
  readonly role: string
  readonly content: unknown
}

function prompt(
  messages: readonly Message[],
  config: object = { model: 'gpt-4o-mini', temperature: 0.7 },
): object {
  return { uri: 'svc:builtin:completion:v0', parameters: { prompt: { messages, llm_config: config } } }
}

const FIRST: readonly Message[] = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: 'An example: where is my parcel?' },
  { role: 'assistant', content: 'Could you tell me the number of your order?' },
  { role: 'user', content: '{{question}}' },
]
const SECOND: readonly Message[] = [
  {
    role: 'system',
    content: SYSTEM.replace('120', '80').replace('Say goodbye.', 'Say goodbye.\nThank them.'),
  },
  { role: 'user', content: '{{question}}' },
  { role: 'user', content: 'An example: where is my parcel?' },
  { role: 'assistant', content: 'Could you tell me the number of your order, please?' },
]

describe('workbench: comparisons', () => {
  let bench: Workbench
  const create = (slug: string, data: object) =>
    bench.ask('POST', '/simple/applications/', { application: { slug, data } })
  const commit = (slug: string, message: string, data: object) =>
    bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: { application_variant_ref: { slug }, message, data },
    })
  const fork = (from: string, slug: string) =>
    bench.ask('POST', '/variants/fork', {
      application_variant: { slug },
      application_variant_ref: { slug: from },
    })

  before(async () => {
    bench = await openWorkbench()
    await create('support-bot', prompt(FIRST))
    await fork('support-bot', 'warmer')
    await fork('support-bot', 'hotter')
    await commit(
      'support-bot',
      'Shorter',
      prompt(SECOND, { model: 'gpt-4o-mini', temperature: 0.2, max_tokens: 400 }),
    )
    await commit(
      'warmer',
      'Warmer',
      prompt([{ role: 'system', content: SYSTEM.replace('120', '200 warm') }, ...FIRST.slice(1)]),
    )
    await commit('hotter', 'Hotter', prompt(FIRST, { model: 'gpt-4o', temperature: 0.7 }))
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  it('shows what changed: words in lines, messages that moved, values by place, the rest folded', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/compare/r:support-bot-1...v:support-bot' })
    const { page } = visit
    await page.getByText('2 messages changed, 1 moved').waitFor()
    const system = page.getByRole('table', { name: 'Message 1, system' })
    expect(await system.locator('del').allTextContents()).to.deep.equal(['120'])
    expect(await system.locator('ins').allTextContents()).to.deep.equal(['80'])
    await page.getByText('moved from 4 to 2').waitFor()
    const values = page.getByRole('table', { name: 'Values that changed' })
    await values
      .getByRole('row', { name: /llm_config\.temperature/ })
      .getByRole('cell', { name: '0.2' })
      .waitFor()
    await values.getByRole('row', { name: /added.*max_tokens/ }).waitFor()
    // Nothing that the server makes of an id, and no change that is none.
    expect(await values.getByRole('row').count()).to.equal(3)
    await visit.expectNoBarriers()
    await visit.picture('compare-1440')

    expect(await system.getByText('- Fact 9 about').count()).to.equal(0)
    await system.getByRole('button', { name: /Show \d+ lines/ }).click()
    expect(await system.getByText('- Fact 9 about').count()).to.equal(2)
    await page.getByRole('button', { name: '1 message unchanged' }).click()
    await page
      .getByRole('table', { name: 'Message 3, user' })
      .getByText('where is my parcel')
      .first()
      .waitFor()
    await visit.close()
  })

  it('shows numbers digit for digit, also those that JavaScript would change', async () => {
    const send = async (path: string, text: string): Promise<void> => {
      const response = await fetch(bench.url + path, {
        method: 'POST',
        headers: { Authorization: `ApiKey ${bench.key}`, 'Content-Type': 'application/json' },
        body: text,
      })
      expect(response.status, await response.text()).to.equal(200)
    }
    const data = (seed: string, other: string) =>
      `{"parameters":{"seed":${seed},"list":[1,${seed}],"other":${other}}}`
    await send(
      '/simple/applications/',
      `{"application":{"slug":"exact","data":${data('12345678901234567890', '1')}}}`,
    )
    await send(
      '/applications/revisions/commit',
      `{"application_revision_commit":{"application_variant_ref":{"slug":"exact"},"data":${data('12345678901234567891', '2')}}}`,
    )
    const visit = await bench.visit({ path: '/a/exact/compare/r:exact-1...v:exact' })
    const values = visit.page.getByRole('table', { name: 'Values that changed' })
    await values.getByRole('rowheader', { name: /parameters\.seed$/ }).waitFor()
    const seed = values.getByRole('row', { name: /changed parameters\.seed/ })
    await seed.getByRole('cell', { name: '12345678901234567890', exact: true }).waitFor()
    await seed.getByRole('cell', { name: '12345678901234567891', exact: true }).waitFor()
    await values.getByRole('rowheader', { name: /parameters\.list\[1\]$/ }).waitFor()
    await visit.close()
  })

  it('steps through the changes by n and p, and goes on where it was', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/compare/r:support-bot-1...v:support-bot' })
    const { page } = visit
    await page.getByText('2 messages changed').waitFor()
    const where = page.getByRole('region', { name: 'What changed' }).getByRole('status')
    const seen: (string | null)[] = []
    for (const key of ['n', 'n', 'n', 'p']) {
      await page.keyboard.press(key)
      seen.push(await where.textContent())
    }
    // Two places in the first message, one that moved, one in the last, two values.
    expect(seen).to.deep.equal(['1 of 6', '2 of 6', '3 of 6', '2 of 6'])
    expect(await page.locator('[data-current]').textContent()).to.contain('Thank them.')
    await visit.close()
  })

  it('is unified where there is no room, and as somebody chose from then on', async () => {
    const visit = await bench.visit({
      path: '/a/support-bot/compare/r:support-bot-1...v:support-bot',
      width: 390,
      height: 844,
    })
    const { page } = visit
    const system = page.getByRole('table', { name: 'Message 1, system' })
    await system.waitFor()
    expect(await system.getAttribute('data-layout')).to.equal('unified')
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390)
    await visit.expectNoBarriers()
    await visit.picture('compare-390')
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.locator('table[data-layout=split]').first().waitFor()
    await page.getByRole('button', { name: 'Unified' }).click()
    await page.reload()
    await system.waitFor()
    expect(await system.getAttribute('data-layout')).to.equal('unified')
    await visit.close()
  })

  it('shows the files as they lie in git, at an address of its own', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/compare/r:support-bot-1...v:support-bot' })
    const { page } = visit
    await page.getByRole('button', { name: 'Files' }).click()
    await page.waitForURL('**?view=files')
    await page.getByRole('table', { name: 'data.json' }).getByText('"max_tokens": 400').waitFor()
    const file = page.getByRole('table', { name: 'prompt/system.md' })
    await file.locator('ins', { hasText: '80' }).waitFor()
    // Where lines are left out it says which ones follow, as git does.
    await file.getByText('@@ −1,5 +1,5 @@').waitFor()
    await file.getByText(/@@ −2\d,\d \+2\d,\d @@/).waitFor()
    await visit.picture('compare-files-1440')
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('changes and swaps the ends, and says what is wrong with one', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/compare/r:support-bot-1...v:support-bot' })
    const { page } = visit
    await page.getByText('is 1 ahead of').waitFor()
    await page.getByRole('button', { name: 'Swap both ends' }).click()
    await page.waitForURL('**/compare/v:support-bot...r:support-bot-1')
    await page.getByText('is 1 behind').waitFor()
    await page.getByTitle('Compare with something else').click()
    await page.getByRole('menuitem', { name: 'hotter', exact: true }).click()
    await page.waitForURL('**/compare/v:support-bot...v:hotter')
    await page.getByText(/new versions? (each|of .*) since/).waitFor()
    await visit.go('/a/support-bot/compare/v:support-bot...e:production')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).to.contain('production')
    await visit.go('/a/support-bot/compare/main')
    await page.getByText('“main” is not valid').waitFor()
    await visit.close()
  })

  it('shows the sides of a conflict, and keeps what was chosen by keys alone over a reload', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/compare/v:support-bot...v:warmer' })
    const { page } = visit
    await page.getByText('Merging warmer into support-bot: 1 conflict.').waitFor()
    expect(await page.getByRole('button', { name: 'Merge into support-bot' }).count()).to.equal(0)
    const resolve = page.getByRole('button', { name: 'Resolve 1 conflict' })
    await resolve.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Merge warmer into support-bot' })
    const conflict = dialog.getByRole('region', { name: 'Conflict 1 of 1: System message' })
    await conflict.getByText('at most 80 words').waitFor()
    await conflict.getByText('at most 200 warm words').waitFor()
    const original = conflict.getByText('at most 120 words')
    expect(await original.isVisible()).to.equal(false)
    await conflict.getByText('Original').click()
    await original.waitFor()
    const save = dialog.getByRole('button', { name: /Save merged version/ })
    expect(await save.textContent()).to.contain('1 left')
    await visit.expectNoBarriers()
    await visit.picture('compare-conflict-1440')
    const result = dialog.getByRole('region', { name: 'Result: System message' })
    await page.keyboard.press('1')
    await result.getByText('at most 80 words').waitFor()
    await page.keyboard.press('2')
    await result.getByText('at most 200 warm words').waitFor()
    await page.keyboard.press('e')
    await dialog.getByLabel('Your text').fill('Answer in at most 100 warm words.')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.reload()
    await resolve.focus()
    await page.keyboard.press('Enter')
    await result.getByText('at most 100 warm words').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    // Since they parted it is one word that warmer changed.
    await page.getByRole('button', { name: /Since their last common version/ }).click()
    await page.waitForURL('**?from=parted')
    await page.getByText('1 message changed').waitFor()
    await visit.close()
  })

  it('merges what has no conflict by keys alone; a head that moved meanwhile is shown first', async () => {
    const visit = await bench.visit({ path: '/a/support-bot/compare/v:support-bot...v:hotter' })
    const { page } = visit
    const merge = page.getByRole('button', { name: 'Merge into support-bot' })
    await merge.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Merge hotter into support-bot' })
    await dialog.waitFor()
    await visit.expectNoBarriers()
    const { application_revision: moved } = await commit('support-bot', 'Meanwhile', prompt(SECOND))
    await dialog.getByLabel('Message').fill('Take the hotter model')
    await page.keyboard.press('Control+Enter')
    await dialog.getByText('support-bot changed meanwhile, so nothing was saved yet.').waitFor()
    expect((await head()).id, 'nothing was merged').to.equal(moved.id)
    // Shown again, it is merged.
    await dialog.getByRole('button', { name: /^Merge/, disabled: false }).waitFor()
    await page.keyboard.press('Control+Enter')
    await dialog.getByText('Done: support-bot is now v4.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('is 3 behind').waitFor()
    const merged = await head()
    expect(merged).to.include({ message: 'Take the hotter model', version: 4 })
    expect(merged.data.parameters.prompt.llm_config.model).to.equal('gpt-4o')
    await visit.close()

    async function head() {
      return (
        await bench.ask('POST', '/applications/revisions/retrieve', {
          application_ref: { slug: 'support-bot' },
        })
      ).application_revision
    }
  })

  it('takes one side of all conflicts', async () => {
    const said = (text: string, model: string): object =>
      prompt([{ role: 'system', content: text }], { model, temperature: 1 })
    await create('answers', said('Answer.', 'gpt-4o'))
    await fork('answers', 'brisk')
    await commit('answers', 'Kinder', said('Answer kindly.', 'gpt-4o-mini'))
    await commit('brisk', 'Brisker', said('Answer at once.', 'gpt-5'))
    const visit = await bench.visit({ path: '/a/answers/compare/v:answers...v:brisk' })
    const { page } = visit
    await page.getByText(': 2 conflicts.').waitFor()
    await page.getByRole('button', { name: 'Resolve 2 conflicts' }).click()
    const dialog = page.getByRole('dialog', { name: 'Merge brisk into answers' })
    await dialog.getByRole('button', { name: 'Use incoming for all' }).click()
    await dialog.getByText('2 conflicts, all decided').waitFor()
    await dialog.getByRole('button', { name: 'Save merged version' }).click()
    await dialog.getByText('Done: answers is now v3.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('is 2 behind').waitFor()
    const { application_revision: made } = await bench.ask('POST', '/applications/revisions/retrieve', {
      application_ref: { slug: 'answers' },
    })
    expect(made.version).to.equal(3)
    const { messages, llm_config: settings } = made.data.parameters.prompt
    expect(messages[0].content).to.equal('Answer at once.')
    expect(settings.model).to.equal('gpt-5')
    await visit.close()
  })

  it('decides more conflicts than are listed, by keys and all at once, and counts the rows that differ', async () => {
    const COUNT = 1200
    const rows = (answer: string) =>
      Array.from({ length: COUNT }, (_, at) => ({
        data: { question: `What is ${at}?`, answer: `${answer} ${at}`, testcase_dedup_id: `row-${at}` },
      }))
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'sums', data: { testcases: rows('It is') } },
    })
    await bench.ask('POST', '/testsets/variants/fork', {
      testset_variant: { slug: 'theirs' },
      testset_variant_ref: { slug: 'sums' },
    })
    for (const [slug, answer] of [
      ['sums', 'Here it is'],
      ['theirs', 'There it is'],
    ] as const) {
      await bench.ask('POST', '/testsets/revisions/commit', {
        testset_revision_commit: { testset_variant_ref: { slug }, data: { testcases: rows(answer) } },
      })
    }
    const visit = await bench.visit({ path: '/t/sums/compare/v:sums...v:theirs' })
    const { page } = visit
    await page.getByText('1,200 rows differ. The first 50: 50 rows changed').waitFor()
    await page.getByRole('button', { name: 'Resolve 1,200 conflicts' }).click()
    const sheet = page.getByRole('dialog', { name: 'Merge theirs into sums' })
    await sheet.getByText('1,200 conflicts, 1,200 left').waitFor()
    await sheet.getByText('The first 1,000 are listed.').waitFor()
    expect(await sheet.getByRole('region', { name: /^Conflict / }).count(), 'drawn at once').to.be.at.most(20)
    const box = await sheet.boundingBox()
    expect((box?.x ?? 0) + (box?.width ?? 0), 'the sheet ends where the window does').to.equal(1440)
    await page.keyboard.press('2')
    await sheet.getByText('1,200 conflicts, 1,199 left').waitFor()
    await page.keyboard.press('n')
    await page.keyboard.press('e')
    await sheet.getByLabel('Your text').fill('Both, I think')
    await page.keyboard.press('Escape')
    await sheet.getByRole('button', { name: 'Use current for all others' }).click()
    await sheet.getByText('1,200 conflicts, all decided').waitFor()
    await visit.expectNoBarriers()
    await page.keyboard.press('Control+Enter')
    await sheet.getByText('Done: sums is now').waitFor()
    const { testset_revision: merged } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'sums' },
    })
    const answers = merged.data.testcases.map((it: { data: { answer: string } }) => it.data.answer)
    expect(answers.filter((it: string) => it.startsWith('There'))).to.have.length(1)
    expect(answers.filter((it: string) => it === 'Both, I think')).to.have.length(1)
    expect(answers.filter((it: string) => it.startsWith('Here'))).to.have.length(COUNT - 2)
    await visit.close()
  })

  it('says to a key that only reads why it cannot merge', async () => {
    await create('quiet', prompt(FIRST))
    await fork('quiet', 'quieter')
    await commit('quieter', 'Quieter', prompt(FIRST.slice(0, 1)))
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit({ path: '/a/quiet/compare/v:quiet...v:quieter', key: key.secret })
    const { page } = visit
    await page.getByText('No conflicts: quiet will become v2.').waitFor()
    const merge = page.getByRole('button', { name: /Merge into quiet/ })
    expect(await merge.textContent()).to.contain('lacks the scope write')
    await merge.click({ force: true })
    expect(await page.getByRole('dialog').count()).to.equal(0)
    await visit.close()
  })

  it('shows hostile contents as text, and what is hidden in them', async () => {
    const deep = Array.from({ length: 50 }).reduce<object>((inner) => ({ deeper: inner }), { end: 1 })
    const hostile = (word: string): readonly Message[] => [
      {
        role: 'system',
        content: `<script>alert(1)</script>\n![](http://elsewhere.test/x.png)\n${word} \u202Egnp.exe`,
      },
      { role: 'user', content: 'x'.repeat(500_000) + word + 'y'.repeat(500_000) },
      { role: 'user', content: [{ type: 'text', text: `javascript:alert('${word}')` }, deep] },
    ]
    await create('hostile', prompt(hostile('before')))
    await commit('hostile', '<img src=x onerror=alert(1)>', prompt(hostile('after')))
    const visit = await bench.visit({ path: '/a/hostile/compare/r:hostile-1...v:hostile' })
    const { page } = visit
    await page.getByText('3 messages changed').waitFor()
    await page.getByText('⟨202E⟩gnp.exe').first().waitFor()
    const long = page.getByRole('table', { name: 'Message 2, user' })
    await long.locator('ins', { hasText: 'after' }).waitFor()
    expect(((await long.textContent()) ?? '').length, 'a long line is shown in part').to.be.below(6000)
    await page.getByText("javascript:alert('").first().waitFor()
    expect(await page.locator('main img, main script').count()).to.equal(0)
    await visit.close()
  })

  it('draws of five thousand lines what is near, and shows the rest when it is wanted', async () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `Line ${at} of a long prompt.`)
    await create('long', prompt([{ role: 'system', content: lines.join('\n') }]))
    await commit(
      'long',
      'Every line',
      prompt([{ role: 'system', content: lines.map((it) => `${it} Changed.`).join('\n') }]),
    )
    const visit = await bench.visit({ path: '/a/long/compare/r:long-1...v:long' })
    const { page } = visit
    await page.getByText('+5,000').waitFor()
    const table = page.getByRole('table', { name: 'Message 1, system' })
    await table.getByText('Line 3 of').first().waitFor()
    expect(await table.getByRole('row').count()).to.be.below(600)
    await table.locator('tbody').last().scrollIntoViewIfNeeded()
    await table.getByText('Line 4999 of').first().waitFor()
    await visit.close()
  })

  it('compares testsets row by row, old above new', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => ({
      country: `Country ${at}`,
      capital: `Capital ${at}`,
      note: at === 4 ? 'word '.repeat(200) : 'A note',
    }))
    await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'capitals', data: { testcases: rows.map((data) => ({ data })) } },
    })
    const { testset_revision: first } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'capitals' },
    })
    const cases = first.data.testcases.map(({ data }: { data: object }) => ({ ...data }))
    cases[2].capital = 'Capital two'
    cases[4].note = cases[4].note.replace('word word', 'word <b>bold</b>')
    cases.splice(6, 1)
    cases.push({ country: '<script>alert(1)</script>', capital: 'New', note: 'A note' })
    await bench.ask('POST', '/testsets/revisions/commit', {
      testset_revision_commit: {
        testset_ref: { slug: 'capitals' },
        message: 'Edits',
        data: { testcases: cases.map((data: object) => ({ data })) },
      },
    })
    const visit = await bench.visit({ path: '/t/capitals/compare/r:capitals-1...v:capitals' })
    const { page } = visit
    await page.getByText('2 rows changed, 1 added, 1 removed').waitFor()
    const table = page.getByRole('table', { name: 'Rows that changed' })
    const changed = table.getByRole('row', { name: /changed/ }).first()
    expect(await changed.locator('del').allTextContents()).to.deep.equal(['2'])
    expect(await changed.locator('ins').allTextContents()).to.deep.equal(['two'])
    await table.getByRole('row', { name: /added/ }).getByText('<script>alert(1)</script>').waitFor()
    await table
      .getByRole('row', { name: /removed/ })
      .getByText('Country 6')
      .waitFor()
    await visit.expectNoBarriers()
    await visit.picture('compare-testset-1440')
    await page.keyboard.press('n')
    await page.getByText('1 of 4').waitFor()
    await table.getByRole('button', { name: 'show what changed' }).click()
    await table.getByRole('group', { name: 'What changed in the cell' }).locator('ins').first().waitFor()
    await visit.close()
  })
})
