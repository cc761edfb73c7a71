-- Two results as the first schema of the catalogue had them. Not to be changed.
INSERT INTO runs (id, kind, name, scenario, scenario_sha256, seed, version, machine, system, started, duration_s, document, document_sha256) VALUES ('1m81ts0h6gabcd', 'simulated', 'it''s old', 'name = "it''s old"
system = "pvfs2"
', '350b9c93e79d86d0bb7c956697d387813846527f1746dd519e955a040163f76f', 1, '0.1.0', 'x86_64', 'Linux-6.1', '2026-11-22T14:31:45.936000Z', 0.0625, '{"scenario":{"name":"it''s old","description":"","toml":"name = \"it''s old\"\nsystem = \"pvfs2\"\n"},"seed":1,"version":"0.1.0","simulated_seconds":2.5,"wall_seconds":0.0625,"throughput":{"read":125000001.0},"operations":{"read":{"count":40,"bytes":41943040,"active_seconds":0.375,"per_second":119.0}},"latency":{"all":{"count":40,"mean":0.03125,"max":0.0625,"p50":0.03125,"p95":0.046875,"p99":0.0546875},"read":{"count":40,"mean":0.03125,"max":0.0625,"p50":0.03125,"p95":0.046875,"p99":0.0546875}}}', 'eded967d79b7988aea13df12d7d4b7ff6653c928c4baf0f37b85a3f5b2d8812b');
INSERT INTO labels (run_id, key, value) VALUES ('1m81ts0h6gabcd', 'disk', 'old');
INSERT INTO labels (run_id, key, value) VALUES ('1m81ts0h6gabcd', 'note', '100 % ä');
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'all', 'latency_mean_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'all', 'latency_p50_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'all', 'latency_p95_s', 0.046875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'all', 'latency_p99_s', 0.0546875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'read', 'latency_mean_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'read', 'latency_p50_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'read', 'latency_p95_s', 0.046875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'read', 'latency_p99_s', 0.0546875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'read', 'operations_per_s', 119.0);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0h6gabcd', 'read', 'throughput_bytes_per_s', 125000001.0);
INSERT INTO contents (run_id, name, bytes, sha256) VALUES ('1m81ts0h6gabcd', 'series', 100, '0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO runs (id, kind, name, scenario, scenario_sha256, seed, version, machine, system, started, duration_s, document, document_sha256) VALUES ('1m81ts0j6gabcd', 'simulated', 'it''s old', 'name = "it''s old"
system = "pvfs2"
', '350b9c93e79d86d0bb7c956697d387813846527f1746dd519e955a040163f76f', 4, '0.1.0', 'x86_64', 'Linux-6.1', '2026-11-22T14:31:46.960000Z', 0.0625, '{"scenario":{"name":"it''s old","description":"","toml":"name = \"it''s old\"\nsystem = \"pvfs2\"\n"},"seed":4,"version":"0.1.0","simulated_seconds":2.5,"wall_seconds":0.0625,"throughput":{"read":125000004.0},"operations":{"read":{"count":40,"bytes":41943040,"active_seconds":0.375,"per_second":119.0}},"latency":{"all":{"count":40,"mean":0.03125,"max":0.0625,"p50":0.03125,"p95":0.046875,"p99":0.0546875},"read":{"count":40,"mean":0.03125,"max":0.0625,"p50":0.03125,"p95":0.046875,"p99":0.0546875}},"replications":[{"seed":4,"simulated_seconds":2.5,"stop":{"reason":"workload"},"throughput":{"read":125004000.0},"mean_latency":0.03515625},{"seed":5,"simulated_seconds":2.5,"stop":{"reason":"workload"},"throughput":{"read":125005000.0},"mean_latency":0.0361328125},{"seed":6,"simulated_seconds":2.5,"stop":{"reason":"workload"},"throughput":{"read":125006000.0},"mean_latency":0.037109375}]}', '6a5b59c08323b642294d2551a2897527b6e54d96bca07d7809d67b6bd6090d36');
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'all', 'latency_mean_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'all', 'latency_p50_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'all', 'latency_p95_s', 0.046875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'all', 'latency_p99_s', 0.0546875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'read', 'latency_mean_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'read', 'latency_p50_s', 0.03125);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'read', 'latency_p95_s', 0.046875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'read', 'latency_p99_s', 0.0546875);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'read', 'operations_per_s', 119.0);
INSERT INTO figures (run_id, operation, figure, value) VALUES ('1m81ts0j6gabcd', 'read', 'throughput_bytes_per_s', 125000004.0);
INSERT INTO contents (run_id, name, bytes, sha256) VALUES ('1m81ts0j6gabcd', 'series', 100, '0000000000000000000000000000000000000000000000000000000000000000');
