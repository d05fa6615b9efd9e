import { expect } from 'chai'
import { normalisePath } from '../../../src/http/request.ts'

describe('addresses', () => {
  for (const [sent, seen] of [
    ['/workflows', '/workflows'],
    ['/workflows/', '/workflows'],
    ['/workflows/?a=/b/', '/workflows?a=/b/'],
    ['/api/workflows', '/workflows'],
    ['/api/api/preview/workflows/?x', '/workflows?x'],
    ['/preview/api/workflows', '/workflows'],
    ['/api', '/'],
    ['/api/', '/'],
    ['/api?x=1', '/?x=1'],
    ['/', '/'],
    ['/?x', '/?x'],
    ['/apiary', '/apiary'],
    ['/preview-x/', '/preview-x'],
    ['/workflows/api', '/workflows/api'],
    ['http://host.example/api/workflows/?x=1', '/workflows?x=1'],
    ['*', '*'],
  ]) {
    it(`${sent} is ${seen}`, () => {
      expect(normalisePath(sent ?? '')).to.equal(seen)
    })
  }
})
