import { describeSurface } from './describe-surface.ts'
import { testedSurfaces } from './tested-surface.ts'

describe('conformance', () => {
  for (const surface of testedSurfaces) describeSurface(surface)
})
