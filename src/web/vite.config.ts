import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npm run dev` asks this server for everything that is not the page. */
const server = process.env['BRANCHPOINT_URL'] ?? 'http://127.0.0.1:3000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Everything is a file: the page's policy lets nothing be loaded from inside a document.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // A page's file is called after its folder: all of them are called page.tsx.
        chunkFileNames: ({ facadeModuleId, name }) =>
          `assets/${/pages\/([\w-]+)\/page\.tsx$/.exec(facadeModuleId ?? '')?.[1] ?? name}-[hash].js`,
      },
    },
  },
  server: {
    // The page's own folder api is below the same segment.
    proxy: { '^/api/(?![\\w-]+\\.ts(?:\\?|$))': server },
  },
})
