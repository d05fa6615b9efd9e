import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Answer, type Visit, type Workbench } from './support/workbench.ts'

describe('workbench: going back', () => {
  let bench: Workbench

  before(async () => {
    bench = await openWorkbench()
    await create('reply', 'You are kind.\n\nAnswer in one line.')
    await commit('reply', 'You are kind.\n\nAnswer in two lines.')
    await commit('reply', 'You are kind and calm.\n\nAnswer in two lines.')
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  const dataOf = (system: string): object => ({
    uri: 'svc:builtin:completion:v0',
    parameters: { prompt: { messages: [{ role: 'system', content: system }] } },
  })
  const create = (slug: string, system: string): Promise<Answer> =>
    bench.ask('POST', '/simple/applications/', { application: { slug, data: dataOf(system) } })
  const commit = (slug: string, system: string): Promise<Answer> =>
    bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: { application_variant_ref: { slug }, data: dataOf(system) },
    })
  async function head(slug: string): Promise<{ version: number; system: string }> {
    const { application_revision: it } = await bench.ask('POST', '/applications/revisions/retrieve', {
      application_ref: { slug },
      application_variant_ref: { slug },
    })
    return { version: it.version, system: it.data.parameters.prompt.messages[0].content }
  }

  it('restores an earlier version of a prompt with keys alone, and shows first what changes', async () => {
    const visit = await bench.visit({ path: '/a/reply/v/reply/1' })
    const { page } = visit
    const keys = await keysOf(page)
    await keys.press(page.getByRole('button', { name: 'More', exact: true }))
    await keys.pick(page.getByRole('menuitem', { name: 'Restore v1 …' }))
    const sheet = page.getByRole('dialog', { name: 'Restore v1 in reply' })
    await sheet.locator('ins', { hasText: 'one' }).waitFor()
    expect((await head('reply')).version, 'nothing is done yet').to.equal(3)
    await visit.expectNoBarriers()
    await visit.picture('restore-1440')
    await page.keyboard.press('Control+Enter')
    await sheet.getByText('Done: reply is now v4').waitFor()
    expect(await head('reply')).to.eql({ version: 4, system: 'You are kind.\n\nAnswer in one line.' })
    await keys.press(sheet.getByRole('link', { name: 'v4' }))
    await page.waitForURL('**/a/reply/v/reply/4')
    await keys.expectNoMouse()
    await visit.close()
  })

  it('undoes one change with keys alone and keeps the later ones; a conflict is resolved in the same sheet', async () => {
    await create('steps', 'First.\n\nSecond.\n\nThird.')
    await commit('steps', 'First, kindly.\n\nSecond.\n\nThird.')
    await commit('steps', 'First, kindly.\n\nSecond.\n\nThird, calmly.')
    const visit = await bench.visit({ path: '/a/steps/v/steps/2' })
    const { page } = visit
    const keys = await keysOf(page)
    const undo = async (): Promise<void> => {
      await keys.press(page.getByRole('button', { name: 'More', exact: true }))
      await keys.pick(page.getByRole('menuitem', { name: 'Undo the change of v2 …' }))
    }
    await undo()
    const sheet = page.getByRole('dialog', { name: 'Undo the change of v2 in steps' })
    // What would change is shown first.
    await sheet.locator('del', { hasText: ', kindly' }).waitFor()
    expect((await head('steps')).version, 'nothing is done yet').to.equal(3)
    await keys.press(sheet.getByRole('button', { name: 'Undo this change' }))
    await sheet.getByText('Done: steps is now v4').waitFor()
    expect((await head('steps')).system).to.equal('First.\n\nSecond.\n\nThird, calmly.')
    // Undone again, the place says something else by now.
    await commit('steps', 'First, at once.\n\nSecond.\n\nThird, calmly.')
    await visit.go('/a/steps/v/steps/2')
    await undo()
    await sheet.getByText('1 conflict, 1 left').waitFor()
    await page.keyboard.press('1')
    await sheet.getByText('1 conflict, all decided').waitFor()
    await keys.press(sheet.getByRole('button', { name: 'Cancel' }))
    await sheet.waitFor({ state: 'detached' })
    expect((await head('steps')).version).to.equal(5)
    // The other side changes something: it is shown as the result, and saved.
    await undo()
    await sheet.getByText('1 conflict, all decided').waitFor()
    const result = sheet.getByRole('region', { name: /^Result/ })
    await result.getByText('First, at once.').waitFor()
    await page.keyboard.press('2')
    await result.getByText('First, at once.').waitFor({ state: 'detached' })
    expect((await head('steps')).version, 'nothing is saved yet').to.equal(5)
    await keys.press(sheet.getByRole('button', { name: 'Save merged version' }))
    await sheet.getByText('Done: steps is now v6').waitFor()
    expect(await head('steps')).to.eql({ version: 6, system: 'First.\n\nSecond.\n\nThird, calmly.' })
    await keys.expectNoMouse()
    await visit.close()
  })

  it('copies a change to another variant', async () => {
    await create('tone', 'Hello.\n\nBye.')
    await bench.ask('POST', '/variants/fork', {
      application_variant: { slug: 'formal' },
      application_variant_ref: { slug: 'tone' },
    })
    await commit('tone', 'Hello.\n\nBye, and thank you.')
    const visit = await bench.visit({ path: '/a/tone/v/tone/2' })
    const { page } = visit
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Copy the change of v2 to …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'formal' }).click()
    const sheet = page.getByRole('dialog', { name: 'Copy the change of v2 to formal' })
    await sheet.getByRole('button', { name: 'Copy to formal' }).click()
    await sheet.getByText('Done: formal is now v2').waitFor()
    await visit.close()
  })

  it('restores a large testset, undoes a change of it and copies one; a key that only reads is told what it lacks', async () => {
    const form = new FormData()
    form.append('testset_slug', 'capitals')
    form.append('include_testcases', 'false')
    const numbered = Array.from({ length: 19_999 }, (_, n) => `Country ${n},City ${n}\n`)
    form.append('file', new Blob(['q,a\nFrance,Paris\n', ...numbered]), 'capitals.csv')
    const headers = { Authorization: `ApiKey ${bench.key}` }
    const stored = await fetch(`${bench.url}/simple/testsets/upload`, { method: 'POST', headers, body: form })
    expect(stored.status, await stored.text()).to.equal(200)
    await bench.ask('POST', '/testsets/variants/fork', {
      testset_variant: { slug: 'formal' },
      testset_variant_ref: { slug: 'capitals' },
    })
    const newest = async (variant: string, more: object): Promise<Answer> => {
      const { testset_revision } = await bench.ask('POST', '/testsets/revisions/retrieve', {
        ...{ testset_ref: { slug: 'capitals' }, testset_variant_ref: { slug: variant }, ...more },
      })
      return testset_revision.data
    }
    const idsOf = async (variant: string): Promise<readonly string[]> =>
      (await newest(variant, { include_testcases: false }))['testcase_ids']
    const before = await idsOf('capitals')
    await bench.ask('POST', '/testsets/revisions/commit', {
      testset_revision_commit: {
        testset_variant_ref: { slug: 'capitals' },
        delta: {
          rows: {
            replace: [{ id: before[0], data: { q: 'France', a: 'Lyon' } }],
            remove: [before[1]],
            add: [{ data: { q: 'Peru', a: 'Lima' } }, { data: { q: 'Chad', a: 'N’Djamena' } }],
          },
        },
      },
    })
    const changed = await idsOf('capitals')
    expect(changed).to.have.length(20_001)
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    const act = async ({ page }: Visit, item: string): Promise<void> => {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    const restored = 'Restore v1 in capitals'
    const reader = await bench.visit({ path: '/t/capitals/v/capitals/1', key: key.secret })
    await act(reader, 'Restore v1 …')
    const refused = reader.page.getByRole('dialog', { name: restored })
    await refused.getByRole('button', { name: /Restore v1.*lacks the scope write/ }).waitFor()
    await reader.close()

    const visit = await bench.visit({ path: '/t/capitals/v/capitals/1' })
    const { page } = visit
    await act(visit, 'Restore v1 …')
    const sheet = page.getByRole('dialog')
    await sheet.getByText('1 row changed, 1 added, 2 removed').waitFor()
    await sheet.getByText('Paris').first().waitFor()
    expect(await idsOf('capitals'), 'nothing is done yet').to.eql(changed)
    await sheet.getByRole('button', { name: 'Restore v1' }).click()
    await sheet.getByText('Done: capitals is now v3').waitFor()
    expect(await idsOf('capitals')).to.eql(before)
    await sheet.getByRole('link', { name: 'v3' }).click()
    await page.getByText('20,000 rows').waitFor()
    await act(visit, 'Undo the change of v3 …')
    await sheet.getByText('1 row changed, 2 added, 1 removed').waitFor()
    await sheet.getByRole('button', { name: 'Undo this change' }).click()
    await sheet.getByText('Done: capitals is now v4').waitFor()
    expect(await idsOf('capitals')).to.have.members(changed)
    await visit.go('/t/capitals/v/capitals/2')
    await act(visit, 'Copy the change of v2 to …')
    await sheet.getByRole('button', { name: 'formal' }).click()
    await sheet.getByRole('button', { name: 'Copy to formal' }).click()
    await sheet.getByText('Done: formal is now v2').waitFor()
    expect(await idsOf('formal')).to.have.members(changed)
    await visit.close()
  })
})
