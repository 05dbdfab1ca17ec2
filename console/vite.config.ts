import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  build: { target: 'es2023' },
  server: {
    proxy: { '/v1': 'http://127.0.0.1:8080', '/docs': 'http://127.0.0.1:8080', '/readyz': 'http://127.0.0.1:8080' },
  },
})
