import type { Surface } from '../families/surface.ts'
import { READ_FLAGS } from './present-testset.ts'
import type { TestsetLimits } from './import/row-collector.ts'
import { testsetFamily } from './testset-family.ts'

/** The surface over testsets (interface 8.10). */
export function testsetSurface(limits: TestsetLimits): Surface {
  return {
    path: 'testsets',
    singular: 'testset',
    plural: 'testsets',
    family: testsetFamily(limits),
    fixedFlags: {},
    readFlags: READ_FLAGS,
    isDeployable: false,
    hasCatalog: false,
    payload: 'rows',
    example: { testcases: [{ data: { country: 'Norway', capital: 'Oslo' } }] },
  }
}
