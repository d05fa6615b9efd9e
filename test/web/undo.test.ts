import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Answer, type Workbench } from './support/workbench.ts'

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
    await keys.expectNoMouse()
    expect((await head('steps')).version).to.equal(5)
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

  it('restores an earlier version of a testset; a key that only reads is told what it lacks', async () => {
    const { testset } = await bench.ask('POST', '/simple/testsets/', {
      testset: { slug: 'capitals', data: { testcases: [{ data: { q: 'France', a: 'Paris' } }] } },
    })
    expect(testset.slug).to.equal('capitals')
    await bench.ask('POST', '/testsets/revisions/commit', {
      testset_revision_commit: {
        testset_variant_ref: { slug: 'capitals' },
        data: { testcases: [{ data: { q: 'France', a: 'Lyon' } }] },
      },
    })
    const { key } = await bench.ask('POST', '/keys/', { key: { name: 'reader', scopes: ['read'] } })
    for (const withKey of [key.secret as string, bench.key]) {
      const visit = await bench.visit({ path: '/t/capitals/v/capitals/1', key: withKey })
      const { page } = visit
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Restore v1 …' }).click()
      const sheet = page.getByRole('dialog', { name: 'Restore v1 in capitals' })
      await sheet.getByText('Paris').first().waitFor()
      const restore = sheet.getByRole('button', { name: /Restore v1/ })
      if (withKey === bench.key) {
        await restore.click()
        await sheet.getByText('Done: capitals is now v3').waitFor()
      } else expect(await restore.textContent()).to.contain('lacks the scope write')
      await visit.close()
    }
  })
})
