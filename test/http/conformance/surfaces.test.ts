import { describeSurface } from './describe-surface.ts'
import { testedSurfaces } from './tested-surface.ts'

// interface 1.3
describe('conformance', () => {
  for (const surface of testedSurfaces) describeSurface(surface)
})
