// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	health "k8s.io/kubelet/pkg/apis/dra-health/v1alpha1"
	dra "k8s.io/kubelet/pkg/apis/dra/v1"
	drabeta "k8s.io/kubelet/pkg/apis/dra/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// What the kubelet asks, with its own packages. The server allocates to the claim gpu-N its device N.

var kubeletChecks = []check{
	{name: "registration", run: register},
	{name: "v1 prepare and unprepare", run: prepare},
	{name: "v1beta1 prepare and unprepare", run: prepareBeta},
	{name: "a batch in which one claim fails", run: prepareSome},
	{name: "health stream", run: watchHealth},
}

func register(ctx context.Context, _ *grpc.ClientConn) error {
	c, err := dial("registry/gpu.tangram.dev-reg.sock")
	if err != nil {
		return err
	}
	defer c.Close()
	client := registration.NewRegistrationClient(c)
	info, err := client.GetInfo(ctx, &registration.InfoRequest{})
	if err != nil {
		return err
	}
	if info.Type != registration.DRAPlugin || info.Name != "gpu.tangram.dev" || !slices.Contains(info.SupportedVersions, "v1.DRAPlugin") {
		return fmt.Errorf("it says %v", info)
	}
	_, err = client.NotifyRegistrationStatus(ctx, &registration.RegistrationStatus{PluginRegistered: true})
	return err
}

func uidOf(name string) string { return "uid-" + name }

// withPlugin runs on a connection to the plugin's socket, with two claims that can be prepared.
func withPlugin(run func(*grpc.ClientConn, []string) error) error {
	c, err := dial("plugin/dra.sock")
	if err != nil {
		return err
	}
	defer c.Close()
	return run(c, []string{"gpu-0", "gpu-1"})
}

func prepare(ctx context.Context, _ *grpc.ClientConn) error {
	return withPlugin(func(c *grpc.ClientConn, claims []string) error {
		client := dra.NewDRAPluginClient(c)
		claim := claimOf(claims[0])
		for range 2 { // the same claim again gets the same answer
			out, err := client.NodePrepareResources(ctx, &dra.NodePrepareResourcesRequest{Claims: []*dra.Claim{claim}})
			if err != nil {
				return err
			}
			answer := out.Claims[uidOf(claim.Name)]
			if answer == nil || answer.Error != "" || len(answer.Devices) != 1 || answer.Devices[0].DeviceName == "" || len(cdiDevices(answer.Devices[0])) == 0 {
				return fmt.Errorf("prepared: %v", out)
			}
		}
		out, err := client.NodeUnprepareResources(ctx, &dra.NodeUnprepareResourcesRequest{Claims: []*dra.Claim{claim}})
		if err != nil || out.Claims[uidOf(claim.Name)] == nil || out.Claims[uidOf(claim.Name)].Error != "" {
			return fmt.Errorf("unprepared: %v, %w", out, err)
		}
		return nil
	})
}

func prepareBeta(ctx context.Context, _ *grpc.ClientConn) error {
	return withPlugin(func(c *grpc.ClientConn, claims []string) error {
		client := drabeta.NewDRAPluginClient(c)
		claim := betaClaimOf(claims[1])
		out, err := client.NodePrepareResources(ctx, &drabeta.NodePrepareResourcesRequest{Claims: []*drabeta.Claim{claim}})
		if err != nil || out.Claims[uidOf(claim.Name)] == nil || len(out.Claims[uidOf(claim.Name)].Devices) != 1 {
			return fmt.Errorf("prepared: %v, %w", out, err)
		}
		_, err = client.NodeUnprepareResources(ctx, &drabeta.NodeUnprepareResourcesRequest{Claims: []*drabeta.Claim{claim}})
		return err
	})
}

func prepareSome(ctx context.Context, _ *grpc.ClientConn) error {
	return withPlugin(func(c *grpc.ClientConn, claims []string) error {
		client := dra.NewDRAPluginClient(c)
		request := &dra.NodePrepareResourcesRequest{}
		for _, name := range []string{claims[0], "no-such-device", claims[1]} {
			request.Claims = append(request.Claims, claimOf(name))
		}
		out, err := client.NodePrepareResources(ctx, request)
		if err != nil {
			return err
		}
		for _, claim := range request.Claims {
			if failed := out.Claims[uidOf(claim.Name)].GetError() != ""; failed != (claim.Name == "no-such-device") {
				return fmt.Errorf("of %s: %v", claim.Name, out.Claims[uidOf(claim.Name)])
			}
		}
		_, err = client.NodeUnprepareResources(ctx, &dra.NodeUnprepareResourcesRequest{Claims: request.Claims})
		return err
	})
}

func watchHealth(ctx context.Context, _ *grpc.ClientConn) error {
	return withPlugin(func(c *grpc.ClientConn, claims []string) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := health.NewDRAResourceHealthClient(c).NodeWatchResources(ctx, &health.NodeWatchResourcesRequest{})
		if err != nil {
			return err
		}
		for range 3 {
			message, err := stream.Recv()
			if err != nil {
				return err
			}
			if len(message.Devices) != 8 || message.Devices[0].Health != health.HealthStatus_HEALTHY {
				return fmt.Errorf("it says %v", message)
			}
		}
		return nil
	})
}
