import type { ServiceOptions } from '../../support/servers/service.ts'
import type { TestedFamily } from '../conformance/tested-family.ts'
import type { TestedSurface } from '../conformance/tested-surface.ts'
import { siblingsOf, testedFamilies } from '../conformance/tested-surface.ts'
import type { RefusedFixture } from './refused-fixture.ts'
import { arrangeRefused } from './refused-fixture.ts'
import type { RefusedRequests } from './refused-requests.ts'
import { refusedRequests } from './refused-requests.ts'

/** What is refused, and in whose words. */
export interface RefusedSubject {
  readonly family: TestedFamily
  /** Other surfaces of the family where it has them, so that each is asked something. */
  readonly second: TestedSurface
  readonly third: TestedSurface
  readonly store: RefusedRequests<RefusedFixture>
}

/** Refusals that all families share, asked of each of them in a store of its own. */
export function describeRefusals(
  subject: string,
  describeSubject: (refused: RefusedSubject) => void,
  options: ServiceOptions = {},
): void {
  for (const family of testedFamilies) {
    // interface 2.32
    describe(`refusals: ${subject}: ${family.folder}`, () => {
      const [first, second = first, third = first] = siblingsOf({ family })
      if (!second || !third) throw new Error(`${family.folder} have no surface`)
      const store = refusedRequests((service) => arrangeRefused(service, family), options)
      describeSubject({ family, second, third, store })
    })
  }
}
